/**
 * X.509 certificates for control planes on this machine: a CA, servers and clients, all on P-256.
 * Why by hand: docs/decisions (local PKI). What is written is read back by OpenSSL and by the API server.
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
import * as der from './der.ts';

/** A certificate and its private key, both PEM. */
export interface Pair {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Subject {
  /** CN: the user, for a client. */
  readonly commonName: string;
  /** O: the groups, for a client. */
  readonly organizations?: readonly string[];
}

export interface Request {
  readonly subject: Subject;
  /** `peer` is both server and client, as etcd wants it between its members. */
  readonly usage: 'server' | 'client' | 'peer';
  /** DNS names and IP addresses that a server answers by. */
  readonly names?: readonly string[];
  readonly now: Date;
  readonly days: number;
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

// keyUsage is a bit string from the left: digitalSignature is bit 0, keyCertSign 5, cRLSign 6.
const SIGNS = { bytes: Buffer.from([0b1000_0000]), unused: 7 };
const CERTIFIES = { bytes: Buffer.from([0b1000_0110]), unused: 1 };

const DAY_MS = 86_400_000;
/** Machines on a desk disagree by minutes: a certificate that is valid from now on is refused by the slower one. */
const BACKDATED_MS = 3_600_000;

/** A certificate authority that signs itself. */
export function createAuthority(commonName: string, now: Date, days: number): Pair {
  const { privateKey, publicKey } = newKey();
  const extensions = [
    extension(OID.basicConstraints, der.sequence(der.boolean(true)), 'critical'),
    extension(OID.keyUsage, der.bits(CERTIFIES.bytes, CERTIFIES.unused), 'critical'),
    extension(OID.subjectKeyId, der.octets(keyId(publicKey))),
  ];
  const name = nameOf({ commonName });
  const tbs = toBeSigned({ issuer: name, subject: name, publicKey, now, days, extensions });
  return { certPem: signed(tbs, privateKey), keyPem: pemOf(privateKey) };
}

/** A certificate of that authority, with a new key. */
export function issue(authority: Pair, request: Request): Pair {
  const { privateKey, publicKey } = newKey();
  const authorityKey = createPrivateKey(authority.keyPem);
  const authorityId = keyId(authorityPublicKey(authority));
  const extensions = [
    extension(OID.keyUsage, der.bits(SIGNS.bytes, SIGNS.unused), 'critical'),
    extension(OID.extendedKeyUsage, der.sequence(...purposesOf(request.usage).map((id) => der.objectId(id)))),
    extension(OID.basicConstraints, der.sequence(), 'critical'),
    extension(OID.authorityKeyId, der.sequence(der.tagged(0, authorityId, 'primitive'))),
    ...alternativeNames(request.names ?? []),
  ];
  const { subject, now, days } = request;
  const issuer = subjectOf(authority);
  const tbs = toBeSigned({ issuer, subject: nameOf(subject), publicKey, now, days, extensions });
  return { certPem: signed(tbs, authorityKey), keyPem: pemOf(privateKey) };
}

function toBeSigned(fields: {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly now: Date;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}): Buffer {
  const notBefore = new Date(+fields.now - BACKDATED_MS);
  const notAfter = new Date(+fields.now + fields.days * DAY_MS);
  return der.sequence(
    der.tagged(0, der.integer(Buffer.from([2])), 'constructed'), // version 3
    der.integer(serialNumber()),
    algorithm(),
    fields.issuer,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    fields.subject,
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    der.tagged(3, der.sequence(...fields.extensions), 'constructed'),
  );
}

function signed(tbs: Buffer, key: KeyObject): string {
  const whole = der.sequence(tbs, algorithm(), der.bits(sign('sha256', tbs, key)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function algorithm(): Buffer {
  return der.sequence(der.objectId(OID.ecdsaWithSha256));
}

/** 128 random bits. The first is cleared and the second set, so that the length never varies. */
function serialNumber(): Buffer {
  const serial = randomBytes(16);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  return serial;
}

function nameOf({ commonName, organizations = [] }: Subject): Buffer {
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
  // The URL parser writes every form of IPv6 in one: hexadecimal groups, and at most one `::`.
  const normal = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = normal.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  const groups = [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
  return Buffer.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function purposesOf(usage: Request['usage']): string[] {
  return [...(usage === 'client' ? [] : [OID.serverAuth]), ...(usage === 'server' ? [] : [OID.clientAuth])];
}

/** Our authorities are named by a CN and nothing else. */
function subjectOf(authority: Pair): Buffer {
  const { subject } = new X509Certificate(authority.certPem);
  return nameOf({ commonName: subject.replace(/^CN=/, '') });
}

function authorityPublicKey(authority: Pair): KeyObject {
  return new X509Certificate(authority.certPem).publicKey;
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function newKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}

/**
 * A private key that signs the tokens of ServiceAccounts. In SEC 1, the one form from which the API server
 * reads the public half too.
 */
export function createServiceAccountKey(): string {
  return newKey().privateKey.export({ type: 'sec1', format: 'pem' });
}
