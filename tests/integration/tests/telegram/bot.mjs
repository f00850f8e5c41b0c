// A bot with grammY: does what the test says to it, and says what came of it.
//
//     node bot.mjs FOLDER API_ROOT TOKEN
//
// FOLDER is the node_modules that grammY is in.

import { createRequire } from "node:module";

const [folder, apiRoot, token] = process.argv.slice(2);
const { Bot, GrammyError, InlineKeyboard, InputFile } = createRequire(`${folder}/`)("grammy");

const bot = new Bot(token, { client: { apiRoot } });
const seen = [];

async function refused(call) {
  try {
    await call;
  } catch (error) {
    if (error instanceof GrammyError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const orders = {
  async html(chat) {
    const sent = await bot.api.sendMessage(chat, "<b>bold</b> &lt;tag&gt;", { parse_mode: "HTML" });
    await bot.api.editMessageText(chat, sent.message_id, "<i>changed</i>", { parse_mode: "HTML" });
  },
  async broken(chat) {
    const error = await refused(bot.api.sendMessage(chat, "<b>bold", { parse_mode: "HTML" }));
    await bot.api.sendMessage(chat, `refused: ${error.description}`);
  },
  async pause(chat) {
    const error = await refused(bot.api.sendMessage(chat, "too fast"));
    const seconds = error.parameters.retry_after;
    await new Promise((done) => setTimeout(done, seconds * 1000));
    await bot.api.sendMessage(chat, `waited ${seconds}`);
  },
  async buttons(chat) {
    const keyboard = new InlineKeyboard().text("Press", "pressed:1");
    await bot.api.sendMessage(chat, "a button", { reply_markup: keyboard });
  },
  async upload(chat) {
    const file = new InputFile(new TextEncoder().encode("twelve apples"), "report.txt");
    await bot.api.sendDocument(chat, file, { caption: "the report" });
  },
};

bot.on("callback_query:data", async (context) => {
  await context.answerCallbackQuery("noted");
  const error = await refused(context.answerCallbackQuery("again"));
  await context.api.sendMessage(context.from.id, `${context.callbackQuery.data}, again: ${error.description}`);
});

bot.on("message", async (context) => {
  const { text, document, chat } = context.message;
  seen.push(text ?? "(a file)");
  if (document) {
    const file = await context.getFile();
    const answer = await fetch(`${apiRoot}/file/bot${token}/${file.file_path}`);
    await context.reply(`file: ${await answer.text()}`);
  } else if (text === "stop") {
    // Not waited for here: it waits for this.
    void bot.stop();
  } else {
    await orders[text](chat.id);
  }
});

await bot.init();
await bot.start();
console.log(JSON.stringify({ me: bot.botInfo.username, seen }));
