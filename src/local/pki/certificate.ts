/**
 * X.509 certificates for control planes on this machine: a CA, servers and clients, all on P-256.
 * Reasons for our own implementation: docs/decisions (local PKI). OpenSSL and the API server verify the result in tests.
 */
import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import * as der from '../../os/x509/der.ts';

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface CertificateSubject {
  /** CN: the user, for a client. */
  readonly commonName: string;
  /** O: the groups, for a client. */
  readonly organizations?: readonly string[];
}

export interface CertificateRequest {
  readonly subject: CertificateSubject;
  /** `peer` is both server and client, as etcd requires between its members. */
  readonly usage: 'server' | 'client' | 'peer';
  /** DNS names and IP addresses of a server. */
  readonly names?: readonly string[];
  readonly now: Date;
  readonly seconds: number;
  /** The part of its life after which it is renewed. Default: in its last month. */
  readonly renewAtPercent?: number | undefined;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

// keyUsage is a bit string, counted from the left: digitalSignature is bit 0, keyCertSign 5, cRLSign 6.
const DIGITAL_SIGNATURE = { bytes: Buffer.from([0b1000_0000]), unused: 7 };
const CERTIFICATE_SIGNING = { bytes: Buffer.from([0b1000_0110]), unused: 1 };

const DAY_SECONDS = 86_400;
/** Clocks can differ by minutes: a machine whose clock is slow would reject a certificate that is valid from now on. */
export const BACKDATED_MS = 3_600_000;

/** Creates a self-signed certificate authority. */
export function createAuthority(commonName: string, now: Date, days: number): CertificatePair {
  const { privateKey, publicKey } = createKey();
  const extensions = [
    extension(OID.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
    extension(OID.keyUsage, der.bits(CERTIFICATE_SIGNING.bytes, CERTIFICATE_SIGNING.unused), 'critical'),
    extension(OID.subjectKeyId, der.octets(computeKeyId(publicKey))),
  ];
  const name = encodeName({ commonName });
  const seconds = days * DAY_SECONDS;
  const tbs = encodeTbsCertificate({ issuer: name, subject: name, publicKey, now, seconds, extensions });
  return { certPem: encodeSignedCertificate(tbs, privateKey), keyPem: encodeKeyPem(privateKey) };
}

/** Issues a certificate with a new key. */
export function issueCertificate(authority: CertificatePair, request: CertificateRequest): CertificatePair {
  const { privateKey, publicKey } = createKey();
  const authorityKey = createPrivateKey(authority.keyPem);
  const authorityId = computeKeyId(authorityPublicKey(authority));
  const extensions = [
    extension(OID.keyUsage, der.bits(DIGITAL_SIGNATURE.bytes, DIGITAL_SIGNATURE.unused), 'critical'),
    extension(
      OID.extendedKeyUsage,
      der.sequence(...extendedKeyUsages(request.usage).map((id) => der.objectId(id))),
    ),
    extension(OID.basicConstraints, der.sequence(), 'critical'),
    extension(OID.authorityKeyId, der.sequence(der.tagged(0, authorityId, 'primitive'))),
    ...alternativeNames(request.names ?? []),
  ];
  const { subject, now, seconds } = request;
  const issuer = encodeSubject(authority);
  const tbs = encodeTbsCertificate({
    issuer,
    subject: encodeName(subject),
    publicKey,
    now,
    seconds,
    extensions,
  });
  return { certPem: encodeSignedCertificate(tbs, authorityKey), keyPem: encodeKeyPem(privateKey) };
}

function encodeTbsCertificate(fields: {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly now: Date;
  readonly seconds: number;
  readonly extensions: readonly Buffer[];
}): Buffer {
  const notBefore = new Date(+fields.now - BACKDATED_MS);
  const notAfter = new Date(+fields.now + fields.seconds * 1000);
  return der.sequence(
    der.tagged(0, der.integer(Buffer.from([2])), 'constructed'), // version 3
    der.integer(createSerialNumber()),
    signatureAlgorithm(),
    fields.issuer,
    der.sequence(der.timestamp(notBefore), der.timestamp(notAfter)),
    fields.subject,
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(3, der.sequence(...fields.extensions), 'constructed'),
  );
}

function encodeSignedCertificate(tbs: Buffer, key: KeyObject): string {
  const certificate = der.sequence(tbs, signatureAlgorithm(), der.bits(sign('sha256', tbs, key)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function signatureAlgorithm(): Buffer {
  return der.sequence(der.objectId(OID.ecdsaWithSha256));
}

/** 128 random bits. The first bit is 0 and the second is 1, so that the length is constant. */
function createSerialNumber(): Buffer {
  const serial = randomBytes(16);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  return serial;
}

function encodeName({ commonName, organizations = [] }: CertificateSubject): Buffer {
  const parts = organizations.map((organization) => attribute(OID.organization, organization));
  return der.sequence(...parts, attribute(OID.commonName, commonName));
}

function attribute(id: string, value: string): Buffer {
  return der.set(der.sequence(der.objectId(id), der.utf8(value)));
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return der.sequence(der.objectId(id), ...(critical ? [der.boolean(true)] : []), der.octets(value));
}

function alternativeNames(names: readonly string[]): Buffer[] {
  if (names.length === 0) return [];
  const entries = names.map((name) =>
    isIP(name) === 0
      ? der.tagged(2, Buffer.from(name), 'primitive')
      : der.tagged(7, addressBytes(name), 'primitive'),
  );
  return [extension(OID.subjectAltName, der.sequence(...entries))];
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  // The URL parser normalizes IPv6: hexadecimal groups, and at most one `::`.
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = normal.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function extendedKeyUsages(usage: CertificateRequest['usage']): string[] {
  return [...(usage === 'client' ? [] : [OID.serverAuth]), ...(usage === 'server' ? [] : [OID.clientAuth])];
}

/** The subject of our authorities contains only a CN. */
function encodeSubject(authority: CertificatePair): Buffer {
  const { subject } = new X509Certificate(authority.certPem);
  return encodeName({ commonName: subject.replace(/^CN=/, '') });
}

function authorityPublicKey(authority: CertificatePair): KeyObject {
  return new X509Certificate(authority.certPem).publicKey;
}

function computeKeyId(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function createKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function encodeKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

/**
 * Creates a private key for signing ServiceAccount tokens. In SEC 1, the only format from which the API server also
 * reads the public key.
 */
export function createServiceAccountKey(): string {
  return createKey().privateKey.export({ type: 'sec1', format: 'pem' });
}
