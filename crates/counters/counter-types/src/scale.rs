/// The conversion from a raw value to the exported one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Nothing: integers stay integers.
    One,
    /// Percent to a ratio.
    Percent,
    /// Ticks of the performance clock to seconds.
    PerfFreq,
    /// 100 ns to seconds.
    HundredNanoseconds,
    /// Microseconds to seconds.
    Microseconds,
    /// Ticks of the object's clock to seconds.
    ObjectFreq,
    /// The moment on the object's clock, to seconds since 1970.
    Beginning,
    /// Nothing, but the 64 bits are a number in IEEE 754.
    Double,
    /// Megahertz to hertz: integers stay integers.
    Megahertz,
    /// Megabytes, of 1,048,576 bytes, to bytes: integers stay integers.
    Megabytes,
    /// Kelvin to degrees Celsius.
    Kelvin,
    /// Tenths of a kelvin to degrees Celsius.
    Decikelvin,
}
