use dcerpc::SyntaxId;

/// An interface that a program of the host has registered with the endpoint mapper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    pub(crate) interface: SyntaxId,
    pub(crate) place: Place,
    pub(crate) annotation: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Behind a pipe, by its name without `\PIPE\`.
    NamedPipe(&'static str),
    /// In the program with the host's objects.
    Objects,
}
