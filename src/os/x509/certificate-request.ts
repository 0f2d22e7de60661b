/** Certificate requests (PKCS #10) for one user in one group: written by the agent, read by the approver. Uses no npm package. */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import * as der from './der.ts';
import { type DerElement, readElement, readElements } from './der-reader.ts';
import {
  encodeName,
  NAME_OID,
  type ParsedRequest,
  type RequestedKey,
  type RequestedName,
} from './request.ts';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const TAG = { sequence: 0x30, set: 0x31, bits: 0x03, objectId: 0x06, attributes: 0xa0 };
const PEM =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END CERTIFICATE REQUEST-----\s*$/;
/** Hash of the signature by the last arc of its algorithm: sha256, sha384 and sha512 with RSA and with ECDSA. */
const HASHES: Readonly<Record<string, string>> = {
  [hexOf('1.2.840.113549.1.1.11')]: 'sha256',
  [hexOf('1.2.840.113549.1.1.12')]: 'sha384',
  [hexOf('1.2.840.113549.1.1.13')]: 'sha512',
  [hexOf(ECDSA_WITH_SHA256)]: 'sha256',
  [hexOf('1.2.840.10045.4.3.3')]: 'sha384',
  [hexOf('1.2.840.10045.4.3.4')]: 'sha512',
};

/** A request for this name, signed with this P-256 key, as PEM. */
export function createCertificateRequest(name: RequestedName, key: KeyObject): string {
  const info = der.sequence(
    der.integer(Buffer.from([0])),
    encodeName(name, der.utf8),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der.tagged(0, Buffer.alloc(0), 'constructed'),
  );
  const algorithm = der.sequence(der.objectId(ECDSA_WITH_SHA256));
  const request = der.sequence(info, algorithm, der.bits(sign('sha256', info, key)));
  const lines = request.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

/** SHA-256 of the public key, in hex: what a request and its certificate have in common. */
export function publicKeySha256(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

/** Undefined for what is not a request in strict DER. */
export function parseCertificateRequest(pem: string): ParsedRequest | undefined {
  const [, base64] = PEM.exec(pem) ?? [];
  if (base64 === undefined) return undefined;
  try {
    return parse(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}

function parse(bytes: Buffer): ParsedRequest {
  const [info, algorithm, signature] = exactly(3, readElement(bytes, TAG.sequence).content);
  const [, subject, spki, attributes] = exactly(4, ofTag(info, TAG.sequence).content);
  const publicKey = createPublicKey({ key: ofTag(spki, TAG.sequence).bytes, type: 'spki', format: 'der' });
  const names = namesIn(ofTag(subject, TAG.sequence));
  return {
    subject: subject?.bytes ?? Buffer.alloc(0),
    commonNames: names.filter(({ type }) => type === hexOf(NAME_OID.commonName)).map(({ value }) => value),
    organizations: names
      .filter(({ type }) => type === hexOf(NAME_OID.organization))
      .map(({ value }) => value),
    hasAttributes: ofTag(attributes, TAG.attributes).content.length > 0,
    key: describeKey(publicKey),
    signatureValid: isSigned({ info, algorithm, signature }, publicKey),
  };
}

interface Signed {
  readonly info: DerElement | undefined;
  readonly algorithm: DerElement | undefined;
  readonly signature: DerElement | undefined;
}

function isSigned({ info, algorithm, signature }: Signed, key: KeyObject): boolean {
  const [id] = readElements(ofTag(algorithm, TAG.sequence).content);
  const hash = HASHES[ofTag(id, TAG.objectId).bytes.toString('hex')];
  const bits = ofTag(signature, TAG.bits).content;
  if (hash === undefined || bits[0] !== 0) return false;
  return verify(hash, ofTag(info, TAG.sequence).bytes, key, bits.subarray(1));
}

function namesIn(subject: DerElement): { readonly type: string; readonly value: string }[] {
  const parts = readElements(subject.content).flatMap((set) => readElements(ofTag(set, TAG.set).content));
  return parts.map((part) => {
    const [type, value] = exactly(2, ofTag(part, TAG.sequence).content);
    return {
      type: ofTag(type, TAG.objectId).bytes.toString('hex'),
      value: value?.content.toString('utf8') ?? '',
    };
  });
}

function describeKey(key: KeyObject): RequestedKey {
  const { modulusLength: bits, namedCurve: curve } = key.asymmetricKeyDetails ?? {};
  const type =
    key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec' ? key.asymmetricKeyType : 'other';
  return {
    sha256: publicKeySha256(key),
    type,
    ...(bits === undefined ? {} : { bits }),
    ...(curve === undefined ? {} : { curve }),
  };
}

function exactly(count: number, content: Buffer): readonly DerElement[] {
  const elements = readElements(content);
  if (elements.length !== count) throw new Error('not a certificate request');
  return elements;
}

function ofTag(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw new Error('not a certificate request');
  return element;
}

function hexOf(objectId: string): string {
  return der.objectId(objectId).toString('hex');
}
