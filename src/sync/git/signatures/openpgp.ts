/** Verifies OpenPGP signatures. The package is loaded with the first of them: most repositories sign with SSH. */
import type * as openpgpTypes from 'openpgp';
import { messageOf } from '../../../os/errors.ts';
import type { KeyVerdict } from './key-verdict.ts';
import { SignatureError } from './signature-error.ts';

export const PGP_ARMOR = '-----BEGIN PGP SIGNATURE-----';
const KEY_BLOCK = /-----BEGIN PGP PUBLIC KEY BLOCK-----[^]*?-----END PGP PUBLIC KEY BLOCK-----/g;
/** Reading takes some 10 ms for each key of 2 KiB. More signers use SSH, where 100,000 are read at once. */
const MAX_KEY_BYTES = 512 * 1024;
const MAX_SIGNATURE_BYTES = 64 * 1024;
/** Clocks of people differ. */
const CLOCK_SKEW_MS = 300_000;

type OpenPgp = typeof openpgpTypes;
type PublicKeys = Awaited<ReturnType<OpenPgp['readKeys']>>;
type PublicKey = PublicKeys[number];
type Signature = Awaited<ReturnType<OpenPgp['readSignature']>>;

export interface OpenPgpKeys {
  readonly count: number;
  /** Decides whether one of the keys made this signature, and may make one now. */
  judge(signed: OpenPgpSigned, now: Date): Promise<KeyVerdict>;
}

export interface OpenPgpSigned {
  readonly armored: string;
  readonly payload: Buffer;
}

/** Splits a file of signers into armored OpenPGP keys and all other lines, which keep their numbers. Pure. */
export function splitKeyBlocks(text: string): { readonly blocks: readonly string[]; readonly rest: string } {
  const blocks = text.match(KEY_BLOCK) ?? [];
  return { blocks, rest: text.replaceAll(KEY_BLOCK, (block) => block.replaceAll(/[^\n]/g, '')) };
}

/** Throws a SignatureError when a key cannot be used. */
export async function readOpenPgpKeys(blocks: readonly string[]): Promise<OpenPgpKeys> {
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  if (bytes > MAX_KEY_BYTES) {
    throw new SignatureError(
      `it has ${bytes} bytes of OpenPGP keys, expected at most ${MAX_KEY_BYTES}: use SSH keys`,
    );
  }
  const openpgp = await import('openpgp');
  const known = new Map<string, PublicKey>();
  for (const block of blocks) {
    try {
      for (const key of await openpgp.readKeys({ armoredKeys: block })) await addKey(known, key);
    } catch (cause) {
      throw new SignatureError(`an OpenPGP key cannot be read: ${messageOf(cause)}`, { cause });
    }
  }
  const keys = [...known.values()];
  return { count: keys.length, judge: (signed, now) => judge({ openpgp, keys, now }, signed) };
}

/** A second copy of a key adds to the first one what it has of its own: a revocation, or a later end. */
async function addKey(known: Map<string, PublicKey>, key: PublicKey): Promise<void> {
  const id = key.getFingerprint();
  known.set(id, (await known.get(id)?.update(key)) ?? key);
}

interface Judge {
  readonly openpgp: OpenPgp;
  readonly keys: PublicKeys;
  readonly now: Date;
}

async function judge({ openpgp, keys, now }: Judge, signed: OpenPgpSigned): Promise<KeyVerdict> {
  const signature = await readSignature(openpgp, signed.armored);
  const [keyId = new openpgp.KeyID()] = signature.getSigningKeyIDs();
  const name = `OpenPGP key ${keyId.toHex().toUpperCase()}`;
  const key = keys.find((each) => each.getKeys(keyId).length > 0);
  if (!key) return { state: 'Unknown', name };
  const madeAt = signature.packets[0]?.created?.getTime() ?? Number.POSITIVE_INFINITY;
  if (madeAt > now.getTime() + CLOCK_SKEW_MS) {
    return { state: 'Refused', because: `its signature by ${name} is from the future` };
  }
  const date = new Date(Math.max(now.getTime(), madeAt));
  try {
    await verifyContent(openpgp, { signature, verificationKeys: key, date }, signed.payload);
    // The package checks the key at the time that the signature contains, which the signer chooses.
    await key.getSigningKey(keyId, date);
  } catch (error) {
    return { state: 'Refused', because: `its signature by ${name} is not valid: ${messageOf(error)}` };
  }
  return { state: 'Valid', name, person: ownerOf(key) };
}

const ADDRESS = /<(?<email>[^>]+)>/;

/** Returns the key and the addresses of its user names: the file of signers lists the key with them. */
function ownerOf(key: PublicKey): readonly string[] {
  const addresses = key.getUserIDs().map((user) => ADDRESS.exec(user)?.groups?.['email'] ?? user);
  return [`openpgp:${key.getFingerprint()}`, ...addresses];
}

/** Rejects when the signature was not made over the payload. */
async function verifyContent(
  openpgp: OpenPgp,
  how: { readonly signature: Signature; readonly verificationKeys: PublicKey; readonly date: Date },
  payload: Buffer,
): Promise<void> {
  const message = await openpgp.createMessage({ binary: payload });
  const { signatures } = await openpgp.verify({ message, ...how });
  // The package leaves out a signature that is not over a document, such as that of a user name, without an error.
  if (signatures.length !== 1) throw new SignatureError('it is not over content');
  await Promise.all(signatures.map(({ verified }) => verified));
}

async function readSignature(openpgp: OpenPgp, armored: string): Promise<Signature> {
  const signature = armored.length > MAX_SIGNATURE_BYTES ? undefined : await parse(openpgp, armored);
  if (!signature) throw new SignatureError('its OpenPGP signature is too large');
  const { length } = signature.packets;
  if (length !== 1) throw new SignatureError(`it has ${length} OpenPGP signatures, expected 1`);
  return signature;
}

async function parse(openpgp: OpenPgp, armored: string): Promise<Signature> {
  try {
    return await openpgp.readSignature({ armoredSignature: armored });
  } catch (cause) {
    throw new SignatureError(`its OpenPGP signature cannot be read: ${messageOf(cause)}`, { cause });
  }
}
