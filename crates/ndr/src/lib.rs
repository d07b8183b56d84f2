//! NDR 2.0, the transfer syntax of C706 chapter 14.
