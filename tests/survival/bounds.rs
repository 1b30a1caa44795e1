//! What is promised, and how it is judged.
//!
//! The honest client's bound is 250 ms and ten times its idle value, whichever is less. The idle p99 of a call on loopback is a fraction of
//! a millisecond, less than one turn of the system's scheduler: on two cores that server, attackers and the honest client share, ten times
//! that would measure the scheduler. So the idle value counts as `FLOOR` at least, and the bound is 50 ms at least, never above 250 ms.
//! Attackers run at a low priority: they are other machines in the world, and must not win by taking the server's cores.

use std::time::Duration;

/// Honest p99 during an attack, whatever it was before.
pub const MOST_LATENCY: Duration = Duration::from_millis(250);
/// And in multiples of the idle value.
pub const MOST_TIMES: u32 = 10;
/// What the idle value counts as at least.
pub const FLOOR: Duration = Duration::from_millis(5);
/// Time until the server is as it was.
pub const RECOVERY: Duration = Duration::from_secs(2);
/// Growth of resident memory, in bytes.
pub const MOST_GROWTH: u64 = 64 << 20;
/// Growth after the attack has ended that counts as none: what the honest client and the allocator need.
pub const STEADY: u64 = 2 << 20;
/// Descriptors above those of before the attack that count as none: newcomers come and go.
pub const SPARE_FILES: usize = 8;

/// The bound on the honest p99 during an attack.
pub fn during(idle: Duration) -> Duration {
    (idle.max(FLOOR) * MOST_TIMES).min(MOST_LATENCY)
}

/// What counts as idle again.
pub fn idle_again(idle: Duration) -> Duration {
    (idle.max(FLOOR) * 2).min(MOST_LATENCY)
}

/// What a server is allowed of the processor, in cores.
#[derive(Debug, Clone, Copy)]
pub enum Cpu {
    /// The attackers hold things and send little: the server has next to nothing to do.
    Little,
    /// The attackers send what must be looked at: what the workers have, and no more.
    Workers,
}

impl Cpu {
    pub const fn cores(self) -> f64 {
        match self {
            Self::Little => 0.6,
            Self::Workers => 2.1,
        }
    }
}
