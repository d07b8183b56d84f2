//! How the records of the schema are declared.

/// Values that cannot be read and are reported of one document: more than anybody lists.
pub(super) const UNREAD_MAX: usize = 10_000;

/// A structure for an element with elements: of `one` kind there is one or none, of `many` any number.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident = $element:literal {
        one { $($(#[$one_meta:meta])* $one:ident: $one_type:ty = $one_name:literal,)* }
        many { $($(#[$many_meta:meta])* $many:ident: $many_type:ty = $many_name:literal,)* }
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$one_meta])* pub $one: Option<$one_type>,)*
            $($(#[$many_meta])* pub $many: Vec<$many_type>,)*
            /// Attributes of the element; declarations of namespaces are among them.
            pub attributes: Vec<Attribute>,
            /// Elements that mean nothing here, or have a value that cannot be read.
            pub rest: Vec<Element>,
        }

        impl $crate::xml::field::Field for $name {
            fn read(element: Element) -> Result<Self, Element> {
                let mut record = Self { attributes: element.attributes, ..Self::default() };
                for node in element.nodes {
                    let Node::Element(inner) = node else { continue };
                    let name = inner.local_name().to_owned();
                    let left = match &name[..] {
                        $($one_name if record.$one.is_none() => {
                            Field::read(inner).map(|value| record.$one = Some(value))
                        })*
                        $($many_name => Field::read(inner).map(|value| record.$many.push(value)),)*
                        _ => Err(inner),
                    };
                    record.rest.extend(left.err());
                }
                Ok(record)
            }

            fn unread_parts(&self, name: &str, unread: &mut Vec<Error>) {
                let before = unread.len();
                for element in &self.rest {
                    if unread.len() >= $crate::xml::record::UNREAD_MAX {
                        break;
                    }
                    let why = match element.local_name() {
                        // The second one of a property means nothing.
                        $($one_name if self.$one.is_none() => <$one_type as Field>::unread(element),)*
                        $($many_name => <$many_type as Field>::unread(element),)*
                        _ => None,
                    };
                    unread.extend(why.map(|error| error.within(element.local_name())));
                }
                $(self.$one.iter().for_each(|value| value.unread_parts($one_name, unread));)*
                $(self.$many.iter().for_each(|value| value.unread_parts($many_name, unread));)*
                for error in &mut unread[before..] {
                    *error = std::mem::take(error).within(name);
                }
            }

            fn write(&self, name: &str) -> Element {
                let mut elements = Vec::new();
                $(elements.extend(self.$one.as_ref().map(|value| value.write($one_name)));)*
                $(elements.extend(self.$many.iter().map(|value| value.write($many_name)));)*
                elements.extend(self.rest.iter().cloned());
                let nodes = elements.into_iter().map(Node::Element).collect();
                Element { name: name.to_owned(), attributes: self.attributes.clone(), nodes, ..Element::default() }
            }
        }

        impl $name {
            /// The name of its element.
            pub const ELEMENT: &'static str = $element;

            /// Reads a document whose root it is.
            ///
            /// # Errors
            /// When the document is not XML, has another root, is above a limit, or has a value that cannot be read.
            pub fn read(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
                let record = Self::read_each(bytes, limits)?;
                let first = record.unread().into_iter().next();
                first.map_or(Ok(record), Err)
            }

            /// The same where a value that cannot be read costs only itself: [`unread`](Self::unread) says which. It stays
            /// in the document.
            ///
            /// # Errors
            /// When the document is not XML, has another root, or is above a limit.
            pub fn read_each(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
                let root = read::document(bytes, limits)?;
                if root.local_name() != Self::ELEMENT {
                    let reason = format!("is the root, where `{}` should be", Self::ELEMENT);
                    return Err(Error::new(root.position, read::shown(&root.name), reason));
                }
                Ok(<Self as Field>::read(root).unwrap_or_default())
            }

            /// Values of another type than the property has, by their places in the document.
            #[must_use]
            pub fn unread(&self) -> Vec<Error> {
                let mut unread = Vec::new();
                self.unread_parts(Self::ELEMENT, &mut unread);
                unread.sort_by_key(|error| (error.position.line, error.position.column));
                unread
            }

            /// Writes a document: its text, which says that it is UTF-16, as it is when a host gets it as a BSTR.
            ///
            /// # Errors
            /// When a text has characters that XML does not have.
            pub fn to_xml(&self) -> Result<String, Error> {
                $crate::xml::write_document(&self.write(Self::ELEMENT))
            }
        }
    };
}

/// A record with what all collectors have.
macro_rules! collector {
    ($(#[$meta:meta])* $name:ident = $element:literal {
        one { $($one:tt)* }
        many { $($many:tt)* }
    }) => {
        record! {
            $(#[$meta])*
            $name = $element {
                one {
                    kind: DataCollectorType = "DataCollectorType",
                    /// The name within the set.
                    name: String = "Name",
                    /// The file's name, without what is added to it.
                    file_name: String = "FileName",
                    /// What is added to the name.
                    file_name_format: AutoPathFormat = "FileNameFormat",
                    /// The pattern that is added to it.
                    file_name_format_pattern: String = "FileNameFormatPattern",
                    /// Whether a file that exists is continued.
                    appends: bool = "LogAppend",
                    /// Whether the oldest records of a full file are overwritten.
                    is_circular: bool = "LogCircular",
                    /// Whether a file that exists is replaced.
                    overwrites: bool = "LogOverwrite",
                    /// Where the newest data are.
                    latest_output_location: String = "LatestOutputLocation",
                    /// Where the data of the next run go.
                    output_location: String = "OutputLocation",
                    /// The place among the collectors of its kind.
                    index: u32 = "Index",
                    $($one)*
                }
                many { $($many)* }
            }
        }
    };
}

pub(super) use {collector, record};
