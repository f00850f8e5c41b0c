"""A bot with aiogram: does what the test says to it, and says what came of it.

    bot.py API_ROOT TOKEN
"""

import asyncio
import io
import json
import sys

from aiogram import Bot, Dispatcher
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import TelegramBadRequest, TelegramRetryAfter
from aiogram.types import (
    BufferedInputFile,
    CallbackQuery,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    Message,
)

dispatcher = Dispatcher()
seen = []


async def html(bot: Bot, chat: int) -> None:
    sent = await bot.send_message(chat, "<b>bold</b> &lt;tag&gt;", parse_mode="HTML")
    edited = await sent.edit_text("<i>changed</i>", parse_mode="HTML")
    assert edited.message_id == sent.message_id


async def broken(bot: Bot, chat: int) -> None:
    try:
        await bot.send_message(chat, "<b>bold", parse_mode="HTML")
    except TelegramBadRequest as error:
        await bot.send_message(chat, f"refused: {error.message}")


async def pause(bot: Bot, chat: int) -> None:
    try:
        await bot.send_message(chat, "too fast")
    except TelegramRetryAfter as error:
        await asyncio.sleep(error.retry_after)
        await bot.send_message(chat, f"waited {error.retry_after}")


async def buttons(bot: Bot, chat: int) -> None:
    button = InlineKeyboardButton(text="Press", callback_data="pressed:1")
    keyboard = InlineKeyboardMarkup(inline_keyboard=[[button]])
    await bot.send_message(chat, "a button", reply_markup=keyboard)


async def upload(bot: Bot, chat: int) -> None:
    file = BufferedInputFile(b"twelve apples", filename="report.txt")
    await bot.send_document(chat, file, caption="the report")


@dispatcher.callback_query()
async def pressed(query: CallbackQuery, bot: Bot) -> None:
    await query.answer("noted")
    try:
        await query.answer("again")
    except TelegramBadRequest as error:
        await bot.send_message(query.from_user.id, f"{query.data}, again: {error.message}")


@dispatcher.message()
async def said(message: Message, bot: Bot) -> None:
    seen.append(message.text or "(a file)")
    if message.document:
        content = io.BytesIO()
        await bot.download(message.document, content)
        await message.answer(f"file: {content.getvalue().decode()}")
    elif message.text == "stop":
        await dispatcher.stop_polling()
    else:
        await globals()[message.text](bot, message.chat.id)


async def main(root: str, token: str) -> None:
    session = AiohttpSession(api=TelegramAPIServer.from_base(root))
    bot = Bot(token, session=session)
    me = await bot.get_me()
    await dispatcher.start_polling(bot, handle_signals=False)
    print(json.dumps({"me": me.username, "seen": seen}))


asyncio.run(main(sys.argv[1], sys.argv[2]))
