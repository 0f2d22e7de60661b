/** Describes what a certificate request asks for, and for what name. Pure. */
import * as der from './der.ts';

export interface RequestedName {
  /** CN: the user. */
  readonly commonName: string;
  /** O: the group. */
  readonly organization: string;
}

export interface ParsedRequest {
  /** The subject as DER. */
  readonly subject: Buffer;
  /** All CNs and Os of the subject, for decisions that depend on a part of it. */
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
  /** Whether the request asks for extensions, for example for alternative names. */
  readonly hasAttributes: boolean;
  readonly key: RequestedKey;
  /** Whether the request was made with the private key. */
  readonly signatureValid: boolean;
}

export interface RequestedKey {
  /** SHA-256 of the public key, in hex. */
  readonly sha256: string;
  readonly type: 'rsa' | 'ec' | 'other';
  /** The bits of the modulus of an RSA key; undefined for another key. */
  readonly bits?: number;
  readonly curve?: string;
}

/** Object identifiers of the parts of a subject. */
export const NAME_OID = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;

/**
 * Tells whether the subject is exactly this name. It is compared as bytes: no second reading of the subject could find another name in it.
 */
export function hasExactName({ subject }: Pick<ParsedRequest, 'subject'>, name: RequestedName): boolean {
  const encodings = [der.utf8, der.printable].map((encode) => encodeName(name, encode));
  return encodings.some((encoded) => encoded.equals(subject));
}

export function encodeName(
  { commonName, organization }: RequestedName,
  encode: (text: string) => Buffer,
): Buffer {
  const attribute = (id: string, value: string): Buffer =>
    der.set(der.sequence(der.objectId(id), encode(value)));
  return der.sequence(
    attribute(NAME_OID.organization, organization),
    attribute(NAME_OID.commonName, commonName),
  );
}
