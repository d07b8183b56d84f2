//! Honest calls of subscriptions, whose laws are those of interfaces.

use com::comev::subscription::{
    GetDescriptionReply, GetDescriptionRequest, GetEnabledReply, GetEnabledRequest,
    GetEventClassApplicationIdReply, GetEventClassApplicationIdRequest, GetEventClassIdReply,
    GetEventClassIdRequest, GetEventClassPartitionIdReply, GetEventClassPartitionIdRequest,
    GetFilterCriteriaReply, GetFilterCriteriaRequest, GetInterfaceIdReply, GetInterfaceIdRequest,
    GetMachineNameReply, GetMachineNameRequest, GetMethodNameReply, GetMethodNameRequest, GetOwnerSidReply,
    GetOwnerSidRequest, GetPerUserReply, GetPerUserRequest, GetPublisherIdReply, GetPublisherIdRequest,
    GetPublisherPropertyCollectionReply, GetPublisherPropertyCollectionRequest, GetPublisherPropertyReply,
    GetPublisherPropertyRequest, GetSubscriberApplicationIdReply, GetSubscriberApplicationIdRequest,
    GetSubscriberClsidReply, GetSubscriberClsidRequest, GetSubscriberInterfaceReply,
    GetSubscriberInterfaceRequest, GetSubscriberMonikerReply, GetSubscriberMonikerRequest,
    GetSubscriberPartitionIdReply, GetSubscriberPartitionIdRequest, GetSubscriberPropertyCollectionReply,
    GetSubscriberPropertyCollectionRequest, GetSubscriberPropertyReply, GetSubscriberPropertyRequest,
    GetSubscriptionIdReply, GetSubscriptionIdRequest, GetSubscriptionNameReply, GetSubscriptionNameRequest,
    PutDescriptionReply, PutDescriptionRequest, PutEnabledReply, PutEnabledRequest,
    PutEventClassApplicationIdReply, PutEventClassApplicationIdRequest, PutEventClassIdReply,
    PutEventClassIdRequest, PutEventClassPartitionIdReply, PutEventClassPartitionIdRequest,
    PutFilterCriteriaReply, PutFilterCriteriaRequest, PutInterfaceIdReply, PutInterfaceIdRequest,
    PutMachineNameReply, PutMachineNameRequest, PutMethodNameReply, PutMethodNameRequest, PutOwnerSidReply,
    PutOwnerSidRequest, PutPerUserReply, PutPerUserRequest, PutPublisherIdReply, PutPublisherIdRequest,
    PutPublisherPropertyReply, PutPublisherPropertyRequest, PutSubscriberApplicationIdReply,
    PutSubscriberApplicationIdRequest, PutSubscriberClsidReply, PutSubscriberClsidRequest,
    PutSubscriberInterfaceReply, PutSubscriberInterfaceRequest, PutSubscriberMonikerReply,
    PutSubscriberMonikerRequest, PutSubscriberPartitionIdReply, PutSubscriberPartitionIdRequest,
    PutSubscriberPropertyReply, PutSubscriberPropertyRequest, PutSubscriptionIdReply,
    PutSubscriptionIdRequest, PutSubscriptionNameReply, PutSubscriptionNameRequest,
    RemovePublisherPropertyReply, RemovePublisherPropertyRequest, RemoveSubscriberPropertyReply,
    RemoveSubscriberPropertyRequest,
};
use wire::HResult;

use super::{call, object_pointer, text, variant};
use crate::ms_dcom::Call;

pub(crate) fn honest_subscription() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(7, &GetSubscriptionIdRequest {}, &GetSubscriptionIdReply { value: text(), status }),
        call(8, &PutSubscriptionIdRequest { value: text() }, &PutSubscriptionIdReply { status }),
        call(9, &GetSubscriptionNameRequest {}, &GetSubscriptionNameReply { value: text(), status }),
        call(10, &PutSubscriptionNameRequest { value: text() }, &PutSubscriptionNameReply { status }),
        call(11, &GetPublisherIdRequest {}, &GetPublisherIdReply { value: text(), status }),
        call(12, &PutPublisherIdRequest { value: text() }, &PutPublisherIdReply { status }),
        call(13, &GetEventClassIdRequest {}, &GetEventClassIdReply { value: text(), status }),
        call(14, &PutEventClassIdRequest { value: text() }, &PutEventClassIdReply { status }),
        call(15, &GetMethodNameRequest {}, &GetMethodNameReply { value: text(), status }),
        call(16, &PutMethodNameRequest { value: text() }, &PutMethodNameReply { status }),
        call(17, &GetSubscriberClsidRequest {}, &GetSubscriberClsidReply { value: text(), status }),
        call(18, &PutSubscriberClsidRequest { value: text() }, &PutSubscriberClsidReply { status }),
        call(
            19,
            &GetSubscriberInterfaceRequest {},
            &GetSubscriberInterfaceReply { value: object_pointer(), status },
        ),
        call(
            20,
            &PutSubscriberInterfaceRequest { value: object_pointer() },
            &PutSubscriberInterfaceReply { status },
        ),
        call(21, &GetPerUserRequest {}, &GetPerUserReply { value: 1, status }),
        call(22, &PutPerUserRequest { value: 1 }, &PutPerUserReply { status }),
        call(23, &GetOwnerSidRequest {}, &GetOwnerSidReply { value: text(), status }),
        call(24, &PutOwnerSidRequest { value: text() }, &PutOwnerSidReply { status }),
        call(25, &GetEnabledRequest {}, &GetEnabledReply { value: 1, status }),
        call(26, &PutEnabledRequest { value: 1 }, &PutEnabledReply { status }),
        call(27, &GetDescriptionRequest {}, &GetDescriptionReply { value: text(), status }),
        call(28, &PutDescriptionRequest { value: text() }, &PutDescriptionReply { status }),
        call(29, &GetMachineNameRequest {}, &GetMachineNameReply { value: text(), status }),
        call(30, &PutMachineNameRequest { value: text() }, &PutMachineNameReply { status }),
        call(
            31,
            &GetPublisherPropertyRequest { name: text() },
            &GetPublisherPropertyReply { value: variant(), status },
        ),
        call(
            32,
            &PutPublisherPropertyRequest { name: text(), value: variant() },
            &PutPublisherPropertyReply { status },
        ),
        call(33, &RemovePublisherPropertyRequest { name: text() }, &RemovePublisherPropertyReply { status }),
        call(
            34,
            &GetPublisherPropertyCollectionRequest {},
            &GetPublisherPropertyCollectionReply { collection: object_pointer(), status },
        ),
        call(
            35,
            &GetSubscriberPropertyRequest { name: text() },
            &GetSubscriberPropertyReply { value: variant(), status },
        ),
        call(
            36,
            &PutSubscriberPropertyRequest { name: text(), value: variant() },
            &PutSubscriberPropertyReply { status },
        ),
        call(
            37,
            &RemoveSubscriberPropertyRequest { name: text() },
            &RemoveSubscriberPropertyReply { status },
        ),
        call(
            38,
            &GetSubscriberPropertyCollectionRequest {},
            &GetSubscriberPropertyCollectionReply { collection: object_pointer(), status },
        ),
        call(39, &GetInterfaceIdRequest {}, &GetInterfaceIdReply { value: text(), status }),
        call(40, &PutInterfaceIdRequest { value: text() }, &PutInterfaceIdReply { status }),
    ]
}

pub(crate) fn honest_subscription2() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(41, &GetFilterCriteriaRequest {}, &GetFilterCriteriaReply { value: text(), status }),
        call(42, &PutFilterCriteriaRequest { value: text() }, &PutFilterCriteriaReply { status }),
        call(43, &GetSubscriberMonikerRequest {}, &GetSubscriberMonikerReply { value: text(), status }),
        call(44, &PutSubscriberMonikerRequest { value: text() }, &PutSubscriberMonikerReply { status }),
    ]
}

pub(crate) fn honest_subscription3() -> Vec<Call> {
    let status = HResult::S_OK;
    vec![
        call(
            45,
            &GetEventClassPartitionIdRequest {},
            &GetEventClassPartitionIdReply { value: text(), status },
        ),
        call(
            46,
            &PutEventClassPartitionIdRequest { value: text() },
            &PutEventClassPartitionIdReply { status },
        ),
        call(
            47,
            &GetEventClassApplicationIdRequest {},
            &GetEventClassApplicationIdReply { value: text(), status },
        ),
        call(
            48,
            &PutEventClassApplicationIdRequest { value: text() },
            &PutEventClassApplicationIdReply { status },
        ),
        call(
            49,
            &GetSubscriberPartitionIdRequest {},
            &GetSubscriberPartitionIdReply { value: text(), status },
        ),
        call(
            50,
            &PutSubscriberPartitionIdRequest { value: text() },
            &PutSubscriberPartitionIdReply { status },
        ),
        call(
            51,
            &GetSubscriberApplicationIdRequest {},
            &GetSubscriberApplicationIdReply { value: text(), status },
        ),
        call(
            52,
            &PutSubscriberApplicationIdRequest { value: text() },
            &PutSubscriberApplicationIdReply { status },
        ),
    ]
}
