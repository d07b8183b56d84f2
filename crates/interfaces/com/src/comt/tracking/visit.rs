use super::dropped::Dropped;
use super::entry::{Component, Container, Process};

/// Gets the entries of an event in their order: a process, a container of it, the components of that, the next container.
pub trait Visitor<'a> {
    /// A process. Its containers follow.
    fn process(&mut self, process: &Process<'a>) {
        let _ = process;
    }

    /// An instance container, and the process that it is in; none where the event lists containers only. An application
    /// with several containers is listed as often. Its components follow.
    fn container(&mut self, process: Option<&Process<'a>>, container: &Container<'a>) {
        let _ = (process, container);
    }

    /// A component of `container`.
    fn component(
        &mut self,
        process: Option<&Process<'a>>,
        container: &Container<'a>,
        component: &Component<'a>,
    );

    /// A property, or an entry with all that is in it, was not read. What is around it is read.
    fn dropped(&mut self, dropped: &Dropped<'a>) {
        let _ = dropped;
    }
}
