//! One program from all rules, in which a call's number is looked for by halves.
//!
//! When a program is put into force the kernel tries it on every number, to know the calls that it
//! always allows. Comparing with one number after the other, as the compiler of seccompiler has it,
//! makes that the dearest step of all.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{BackendError, BpfProgram, SeccompRule, sock_filter};

/// Rules by call number; a call without any is meant whatever its arguments.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;

/// `AUDIT_ARCH_*` of linux/audit.h.
#[cfg(target_arch = "x86_64")]
const OURS: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OURS: u32 = 0xc000_00b7;

/// Bit in the call numbers of the x32 table (`__X32_SYSCALL_BIT`), a second way to every call, which
/// is refused. Of no other architecture is there such a number.
const X32_BIT: u32 = 0x4000_0000;

/// Calls that are compared with one after the other.
const FEW: usize = 5;
/// Instructions in a program that the kernel takes (`BPF_MAXINSNS`).
const LONGEST: usize = 4096;

/// What becomes of a call that a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is not made, and fails with this number; 0 is success.
    Errno(i32),
    /// Whoever holds the filter's listener answers it (seccomp_unotify(2)).
    Asked,
}

impl Answer {
    fn action(self) -> u32 {
        match self {
            Self::Errno(errno) => refusal(errno),
            Self::Asked => libc::SECCOMP_RET_USER_NOTIF,
        }
    }
}

/// The program that answers what `refused` matches with EPERM, what `absent` matches with ENOSYS,
/// and allows everything else.
pub(super) fn compile(refused: Rules, absent: Rules) -> Result<BpfProgram, BackendError> {
    compile_each([
        (refused, Answer::Errno(libc::EPERM)),
        (absent, Answer::Errno(libc::ENOSYS)),
    ])
}

/// The program that answers what rules match with what stands beside them, the first where several
/// do, and allows everything else.
///
/// A call through the table of another architecture (32-bit on a 64-bit kernel) ends the process:
/// its numbers mean other calls.
pub(super) fn compile_each(
    answers: impl IntoIterator<Item = (Rules, Answer)>,
) -> Result<BpfProgram, BackendError> {
    let mut calls: BTreeMap<u32, BpfProgram> = BTreeMap::new();
    for (rules, answer) in answers {
        for (number, rules) in rules {
            let number = number.try_into();
            let number = number.map_err(|_| BackendError::FilterTooLarge(usize::MAX))?;
            let judged = judge(rules, answer.action());
            calls.entry(number).or_default().extend(judged);
        }
    }
    let calls: Vec<(u32, BpfProgram)> = calls.into_iter().collect();
    let mut program = vec![
        step(LOAD, ARCHITECTURE),
        jump_over(JUMP_IF_EQUAL, OURS, 1),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, NUMBER),
        jump_unless(JUMP_IF_AT_LEAST, X32_BIT, 1),
        answer(refusal(libc::EPERM)),
    ];
    program.extend(search(&calls));
    // Where seccompiler's jump over a whole rule leads, which is never taken and has to end somewhere.
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    if program.len() > LONGEST {
        return Err(BackendError::FilterTooLarge(program.len()));
    }
    Ok(program)
}

/// Answers with `action` where a rule matches, and goes on behind itself otherwise.
fn judge(rules: Vec<SeccompRule>, action: u32) -> BpfProgram {
    if rules.is_empty() {
        return vec![answer(action)];
    }
    // One that does not match goes on behind the answer that it is to have.
    let each = rules.into_iter().flat_map(|rule| {
        let mut rule = BpfProgram::from(rule);
        rule.push(answer(action));
        rule
    });
    each.collect()
}

/// Finds the number that was loaded among those of `calls`, which are sorted.
fn search(calls: &[(u32, BpfProgram)]) -> BpfProgram {
    if let Some(program) = together(calls) {
        return program;
    }
    match calls {
        [] => vec![answer(libc::SECCOMP_RET_ALLOW)],
        [(number, judged)] => {
            let mut program = vec![
                jump_over(JUMP_IF_EQUAL, *number, 1),
                answer(libc::SECCOMP_RET_ALLOW),
            ];
            program.extend_from_slice(judged);
            // For what no rule matches.
            program.push(answer(libc::SECCOMP_RET_ALLOW));
            program
        }
        _ => {
            let (below, from) = calls.split_at(calls.len() / 2);
            let (below, others) = (search(below), search(from));
            let mut program = jump_far(from[0].0, below.len());
            program.extend(below);
            program.extend(others);
            program
        }
    }
}

/// Compares one after the other with a few that are answered alike: a shorter program is put into
/// force sooner.
fn together(calls: &[(u32, BpfProgram)]) -> Option<BpfProgram> {
    let (_, alike) = calls.first()?;
    let is_alike = |(_, judged): &(u32, BpfProgram)| judged.len() == 1 && judged == alike;
    if calls.len() > FEW || !calls.iter().all(is_alike) {
        return None;
    }
    // The last one goes over the answer to all others, each before it over one more comparison.
    let ways = (1..=u8::try_from(calls.len()).ok()?).rev();
    let compared = calls
        .iter()
        .zip(ways)
        .map(|((number, _), way)| jump_over(JUMP_IF_EQUAL, *number, way));
    let mut program: BpfProgram = compared.collect();
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.extend_from_slice(alike);
    Some(program)
}

/// Goes over `length` instructions where the number is at least `bound`. A conditional jump has one
/// byte for the way.
fn jump_far(bound: u32, length: usize) -> BpfProgram {
    match (u8::try_from(length), u32::try_from(length)) {
        (Ok(short), _) => vec![jump_over(JUMP_IF_AT_LEAST, bound, short)],
        (_, long) => vec![
            jump_unless(JUMP_IF_AT_LEAST, bound, 1),
            // Programs of this length are refused in the end.
            step(JUMP, long.unwrap_or_default()),
        ],
    }
}

fn step(code: u16, k: u32) -> sock_filter {
    let (jt, jf) = (0, 0);
    sock_filter { code, jt, jf, k }
}

fn answer(action: u32) -> sock_filter {
    step(RETURN, action)
}

/// Goes over that many instructions where the comparison holds,
fn jump_over(code: u16, k: u32, jt: u8) -> sock_filter {
    let jf = 0;
    sock_filter { code, jt, jf, k }
}

/// or where it does not.
fn jump_unless(code: u16, k: u32, jf: u8) -> sock_filter {
    let jt = 0;
    sock_filter { code, jt, jf, k }
}

fn refusal(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, TargetArch,
    };

    use super::*;

    /// A call, as the kernel shows it to a filter.
    #[derive(Debug, Clone, Copy)]
    struct Call {
        architecture: u32,
        number: u32,
        arguments: [u64; 6],
    }

    impl Call {
        /// The 32 bits at an offset of `struct seccomp_data`, on a little-endian machine.
        fn word(&self, offset: u32) -> u32 {
            match offset {
                NUMBER => self.number,
                ARCHITECTURE => self.architecture,
                _ => {
                    let at = (offset - 16) / 4;
                    let argument = self.arguments[usize::try_from(at / 2).unwrap()];
                    u32::try_from(argument >> (32 * (at % 2)) & 0xffff_ffff).unwrap()
                }
            }
        }
    }

    /// What a program answers, by the instructions that there are in ours and in seccompiler's; and
    /// after how many of them.
    fn run(program: &[sock_filter], call: &Call) -> (u32, usize) {
        let (mut at, mut held, mut steps) = (0, 0_u32, 0);
        loop {
            let op = &program[at];
            at += 1;
            steps += 1;
            let jump = |holds: bool| usize::from(if holds { op.jt } else { op.jf });
            match u32::from(op.code) & 0x07 {
                libc::BPF_LD => held = call.word(op.k),
                libc::BPF_ALU => {
                    assert_eq!(u32::from(op.code), libc::BPF_ALU | libc::BPF_AND);
                    held &= op.k;
                }
                libc::BPF_JMP => {
                    at += match u32::from(op.code) & 0xf0 {
                        libc::BPF_JA => usize::try_from(op.k).unwrap(),
                        libc::BPF_JEQ => jump(held == op.k),
                        libc::BPF_JGT => jump(held > op.k),
                        libc::BPF_JGE => jump(held >= op.k),
                        other => panic!("jump {other:#x}"),
                    };
                }
                libc::BPF_RET => return (op.k, steps),
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    /// What the kernel makes of several: the strictest, which of ours is the least.
    fn strictest(programs: &[BpfProgram], call: &Call) -> u32 {
        let answers = programs.iter().map(|program| run(program, call).0);
        answers.min().unwrap()
    }

    /// The same rules by seccompiler's own compiler.
    fn one_by_one(rules: Rules, errno: i32) -> BpfProgram {
        let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let match_action = SeccompAction::Errno(errno.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, match_action, architecture);
        filter.unwrap().try_into().unwrap()
    }

    fn calls() -> impl Iterator<Item = Call> {
        const WORDS: [u64; 7] = [0, 1, 2, 3, 0x5412, 0x2000_0000, u64::MAX];
        let numbers = (0..1200).chain([u32::MAX, u32::MAX - 1]);
        numbers.flat_map(|number| {
            WORDS.into_iter().flat_map(move |first| {
                WORDS.into_iter().flat_map(move |second| {
                    [0, 0x40, 0x2000_0000].map(|third| Call {
                        architecture: OURS,
                        number,
                        arguments: [first, second, third, second, third, first],
                    })
                })
            })
        })
    }

    fn rules() -> (Rules, Rules) {
        let when = |argument, operator, value| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).unwrap()
        };
        let rule = |conditions| SeccompRule::new(conditions).unwrap();
        let mut refused: Rules = (0..400).step_by(5).map(|call| (call, Vec::new())).collect();
        let masked =
            (0..30).map(|bit| rule(vec![when(1, SeccompCmpOp::MaskedEq(1 << bit), 1 << bit)]));
        refused.insert(56, masked.collect());
        refused.insert(
            57,
            vec![
                rule(vec![
                    when(0, SeccompCmpOp::Ne, 1),
                    when(2, SeccompCmpOp::Ge, 0x40),
                ]),
                rule(vec![when(1, SeccompCmpOp::Eq, 0x5412)]),
            ],
        );
        let absent = [
            (8, Vec::new()),
            (425, Vec::new()),
            (57, vec![rule(vec![when(0, SeccompCmpOp::Eq, 3)])]),
        ];
        (refused, absent.into())
    }

    #[test]
    fn compile_answers_as_the_compiler_of_seccompiler() {
        let (refused, absent) = rules();
        let theirs = [
            one_by_one(refused.clone(), libc::EPERM),
            one_by_one(absent.clone(), libc::ENOSYS),
        ];
        let ours = compile(refused, absent).unwrap();
        for call in calls().filter(|call| call.number < X32_BIT) {
            let (answered, _) = run(&ours, &call);
            assert_eq!(answered, strictest(&theirs, &call), "{call:?}");
        }
    }

    #[test]
    fn compile_refuses_the_other_tables() {
        let (refused, absent) = rules();
        let ours = compile(refused, absent).unwrap();
        let call = |architecture, number| Call {
            architecture,
            number,
            arguments: [0; 6],
        };
        for number in [0, 1, 425, 1000] {
            let (x32, _) = run(&ours, &call(OURS, number | X32_BIT));
            assert_eq!(x32, refusal(libc::EPERM));
            let (other, _) = run(&ours, &call(0x4000_0003, number));
            assert_eq!(other, libc::SECCOMP_RET_KILL_PROCESS);
        }
    }

    #[test]
    fn compile_finds_a_call_among_many_in_few_steps() {
        let (refused, absent) = rules();
        let ours = compile(refused, absent).unwrap();
        for call in calls().filter(|call| ![56, 57].contains(&call.number)) {
            let (_, steps) = run(&ours, &call);
            assert!(steps <= 16, "{steps} steps: {call:?}");
        }
    }
}
