//! The last bytes of an input steer the target; what stands before them is the data, so that seeds stay readable.

/// How many bytes steer.
const LEN: usize = 4;

/// What steers one run: a small generator, seeded by the input's last bytes.
#[derive(Debug, Clone)]
pub struct Control(u32);

impl Control {
    /// Takes the steering bytes off the end. `None` when the input is too short to have any.
    pub fn split(input: &[u8]) -> Option<(&[u8], Self)> {
        let (data, seed) = input.split_last_chunk::<LEN>()?;
        Some((data, Self(u32::from_le_bytes(*seed))))
    }

    /// The next number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        // splitmix32: neighbouring seeds give unrelated numbers.
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let mut z = self.0;
        z = (z ^ (z >> 16)).wrapping_mul(0x85eb_ca6b);
        z = (z ^ (z >> 13)).wrapping_mul(0xc2b2_ae35);
        z ^= z >> 16;
        z as usize % bound.max(1)
    }

    /// Ascending offsets into `len` bytes at which to cut them; the ends are not among them. Sometimes every offset, if they are few.
    pub fn cuts(&mut self, len: usize) -> Vec<usize> {
        if self.below(8) == 0 && len <= 300 {
            return (1..len).collect();
        }
        let count = self.below(8);
        let mut cuts: Vec<usize> = (0..count).map(|_| self.below(len)).filter(|&cut| cut > 0).collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}
