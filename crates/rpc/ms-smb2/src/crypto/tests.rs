//! Microsoft's examples, from its Open Specifications blog: "SMB 2 and SMB 3 security in Windows 10: the anatomy of
//! signing and cryptographic keys" (keys and signature of 3.1.1), "Encryption in SMB 3.0: a protocol perspective" and
//! "SMB 3.1.1 encryption in Windows 10" (a WRITE and its answer, encrypted).

use super::*;
use crate::{Cipher, Dialect, Error, SigningAlgorithm};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn preauth(hex: &str) -> PreauthHash {
    PreauthHash::from_bytes(bytes(hex).try_into().unwrap())
}

fn material<'a>(dialect: Dialect, preauth: &'a PreauthHash, session_key: &'a [u8]) -> KeyMaterial<'a> {
    let cipher = if dialect == Dialect::Smb3_1_1 { Cipher::Aes128Gcm } else { Cipher::Aes128Ccm };
    KeyMaterial {
        side: Side::Client,
        dialect,
        signing: SigningAlgorithm::AesCmac,
        cipher: Some(cipher),
        preauth,
        session_key,
    }
}

/// The last answer of a SESSION_SETUP, as Windows signed it.
#[test]
fn the_signature_of_windows_is_right_and_every_other_is_wrong() {
    let hash = preauth(
        "0DD13628CC3ED218EF9DF9772D436D0887AB9814BFAE63A80AA845F36909DB79\
         28622DDDAD522D9751640A459762C5A9D6BB084CBB3CE6BDADEF5D5BCE3C6C01",
    );
    let key = bytes("270E1BA896585EEB7AF3472D3B4C75A7");
    let answer = bytes(
        "FE534D4240000100000000000100800009000000000000000300000000000000FFFE0000000000001900000000100000\
         EBE146DA120BA25FC3376A49DFE31BC10900000048001D00A11B3019A0030A0100A3120410010000003B453CDC352416\
         4200000000",
    );
    let signer = material(Dialect::Smb3_1_1, &hash, &key).signer();
    assert!(signer.verify(&mut answer.clone()));
    for position in 0..answer.len() {
        let mut changed = answer.clone();
        changed[position] ^= 0x10;
        assert!(!signer.verify(&mut changed), "byte {position}");
    }
}

/// The two messages in front of the answer above change the hash from what Microsoft prints before to what it prints
/// after.
#[test]
fn the_hash_over_the_negotiation_is_that_of_windows() {
    let mut hash = preauth(
        "AC0B0F2B9986257700365E416D142A6EDC96DF03594A19E52A15F6BD0D041CD5\
         D432F8ED42C55E33197A50C9EC00F1462B50C592211B1471A04B56088FDFD5F9",
    );
    hash.update(&bytes(
        "FE534D4240000100160000C00100010001000000000000000200000000000000FFFE00000000000019000000001000000000000000\
         0000000000000000000000090000004800B300A181B03081ADA0030A0101A10C060A2B06010401823702020AA281970481944E544C\
         4D53535000020000000C000C003800000015828AE20D1D8BA31179D008000000000000000050005000440000000A00922700000\
         00F53005500540033003100310002000C0053005500540033003100310001000C0053005500540033003100310004000C005300\
         5500540033003100310003000C0053005500540033003100310007000800A1A1F5ADCBAED00100000000",
    ));
    let after = preauth(
        "2729E3440DFDDD839E37193F6E8F20C20CEFB3469E453A70CD980EEC06B88357\
         40A73760085633364C8989895ECE81BF102DEEB14D4B7D48AFA76901A7A38387",
    );
    assert_eq!(hash, after);
}

fn check_opening(material: &KeyMaterial<'_>, encrypted: &str, message: &str) {
    let (_, opener) = material.ciphers().unwrap();
    let mut frame = bytes(encrypted);
    assert_eq!(opener.open(&mut frame).unwrap(), bytes(message));
    for position in [4, 20, 30, 44, 51, 52, frame.len() - 1] {
        let mut changed = bytes(encrypted);
        changed[position] ^= 1;
        assert_eq!(opener.open(&mut changed).unwrap_err(), Error::DecryptionFailed, "byte {position}");
    }
}

#[test]
fn windows_encrypts_3_0_as_we_decrypt_it() {
    let key = bytes("B4546771B515F766A86735532DD6C4F0");
    let none = PreauthHash::default();
    let material = || material(Dialect::Smb3_0, &none, &key);
    let request = "FD534D4281A286535415445DAE393921E44FA42E66E69A111892584FB5ED524A744DA3EE87000000000001001100001400E40800\
        25C8FEE16605A437832D1CD52DA9F4645333482A175FE5384563F45FCDAFAEF38BC62BA4D5C62897996625A44C29BE5658DE2E6117585779\
        E7B59FFD971278D08580D7FA899E410E910EABF5AA1DB43050B33B49182637759AC15D84BFCDF5B6B238993C0F4CF4D6012023F6C6272970\
        75D84B7803912D0A9639634453595EF3E33FFE4E7AC2AB";
    check_opening_of_write(&KeyMaterial { side: Side::Server, ..material() }, request);
    let response = "FD534D42A6015530A18F6D9AFFE22AFAE8E66484860000000000000011000014\
        00E4080050000000000001001100001400E40800DBF46435C5F14169293CE079E344479BF670227E49873F458672C3098DAC467D\
        D5809F369D674091665157871483E01F7BECD02064EAC3E235F913668BBC2F097980D4B378F1993EFF6E60D177309E5B";
    let answer = "FE534D4240000100000000000900210009000000000000000400000000000000FFFE0000010000001100001400E40800\
        0000000000000000000000000000000011000000170000000000000000000000";
    check_opening(&material(), response, answer);
}

fn check_opening_of_write(material: &KeyMaterial<'_>, request: &str) {
    let (_, opener) = material.ciphers().unwrap();
    let mut frame = bytes(request);
    let message = opener.open(&mut frame).unwrap();
    assert!(message.ends_with(b"Smb3 encryption testing"));
    assert_eq!(message.len(), 0x87);
}

#[test]
fn windows_encrypts_3_1_1_as_we_decrypt_it() {
    let hash = preauth(
        "B23F3CBFD69487D9832B79B1594A367CDD950909B774C3A4C412B4FCEA9EDDDB\
         A7DB256BA2EA30E977F11F9B113247578E0E915C6D2A513B8F2FCA5707DC8770",
    );
    let key = bytes("419FDDF34C1E001909D362AE7FB6AF79");
    let material = || material(Dialect::Smb3_1_1, &hash, &key);
    let request = "FD534D42BD73D97D2BC9001BCAFAC0FDFF5FEEBCC7D6822D269CAF48904C664C00000000870000000000010025000000001000006E\
        CDD2A7AFC7B47763057A041B8FD4DAFFE990B70C9E09D36C084E02D14EF247F8BDE38ACF6256F8B1D3B56F77FBDEB312FEA5E92CBCC1ED8F\
        B2EBBFAA75E49A4A394BB44576545567C24D4C014D47C9FBDFDAFD2C4F9B72F8D256452620A299F48E29E53D6B61D1C13A19E91AF013F00D\
        17E3ABC2FC3D36C8C1B6B93973253852DBD442E46EE8";
    check_opening_of_write(&KeyMaterial { side: Side::Server, ..material() }, request);
    let response = "FD534D42ACBE1CB7ED343ADF1725EF144D90D4B0E06831DD2E8EB7B4000000000000000050000000000001002500000000100000\
        26BBBF949983A6C1C796559D0F2C510CB651D1F7B6AC8DED32A2A0B8F2D793A815C6F6B848D69767A215841A42D400AE6DDB5F0B44173A01\
        4973321FDD7950DA6179159B82E03C9E18A050FF0EA1C967";
    let answer = "FE534D4240000100000000000900010001000000000000000500000000000000FFFE0000010000002500000000100000\
        0000000000000000000000000000000011000000170000000000000000000000";
    check_opening(&material(), response, answer);
}

#[test]
fn no_nonce_is_used_twice_and_a_reflected_message_is_not_taken() {
    let key = [7; 16];
    let hash = PreauthHash::default();
    for cipher in Cipher::ALL {
        let material = KeyMaterial { cipher: Some(cipher), ..material(Dialect::Smb3_1_1, &hash, &key) };
        let (mut sealer, opener) = material.ciphers().unwrap();
        let mut frames = [[0; 52 + 20]; 2];
        for frame in &mut frames {
            sealer.seal(1, frame).unwrap();
        }
        assert_ne!(frames[0][20..36], frames[1][20..36], "{cipher}");
        assert_eq!(opener.open(&mut frames[0]).unwrap_err(), Error::DecryptionFailed, "{cipher}");
    }
}
