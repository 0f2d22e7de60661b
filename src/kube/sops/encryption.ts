/** Reads how an object is encrypted, and refuses what cannot be decrypted or verified. It needs no key. Pure. */
import { isRecord, listAt, textAt, valueAt } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';
import type { LeafPath } from './leaves.ts';
import { isEncryptedValue } from './values.ts';

export interface Encryption {
  readonly recipients: readonly WrappedKey[];
  /** The encrypted checksum over all values. */
  readonly mac: string;
  /** It is authenticated with the checksum. */
  readonly lastModified: string;
  /** The path of each value, in the order of the file. */
  readonly leaves: readonly LeafPath[];
}

export interface WrappedKey {
  /** The public key. */
  readonly recipient: string;
  /** The data key, encrypted for it. */
  readonly enc: string;
}

export type ReadEncryption =
  | { readonly encryption: Encryption; readonly problem?: never }
  | { readonly problem: string };

const MAX_RECIPIENTS = 100;
/** A wrapped key has some 400 characters, and 2,200 where it is safe from quantum computers. */
const MAX_WRAPPED_LENGTH = 8192;
/** Decrypting these takes up to 0.2 s of a busy machine, in which this process renews no Lease. */
const MAX_LEAVES = 1000;
const HINT = `encrypt with --encrypted-regex '^(data|stringData)$'`;

export function readEncryption(object: KubeObject): ReadEncryption {
  const sops = valueAt(object, 'sops');
  const leaves = listAt(sops, 'leaves').filter(isPath);
  const problem =
    schemeProblem(sops) ?? identityProblem(object) ?? orderProblem(object, valueAt(sops, 'leaves'), leaves);
  if (problem !== undefined) return { problem };
  const [mac = '', lastModified = ''] = [textAt(sops, 'mac'), textAt(sops, 'lastmodified')];
  return { encryption: { recipients: recipientsOf(sops), mac, lastModified, leaves } };
}

function isPath(value: unknown): value is LeafPath {
  return Array.isArray(value) && value.every((step) => typeof step === 'string' || typeof step === 'number');
}

function recipientsOf(sops: unknown): WrappedKey[] {
  return listAt(sops, 'age').flatMap((each) => {
    const [recipient, enc] = [textAt(each, 'recipient'), textAt(each, 'enc')];
    return recipient === undefined || enc === undefined ? [] : [{ recipient, enc }];
  });
}

function schemeProblem(sops: unknown): string | undefined {
  if (valueAt(sops, 'key_groups') !== undefined || valueAt(sops, 'shamir_threshold') !== undefined) {
    return 'it has key groups, of which sync cannot have all keys: encrypt it with one list of age recipients';
  }
  if (valueAt(sops, 'mac_only_encrypted') === true) {
    return 'its checksum does not protect name and namespace: encrypt it again without mac_only_encrypted';
  }
  if (textAt(sops, 'lastmodified') === undefined) return 'sops.lastmodified is missing: encrypt it again';
  return recipientsProblem(recipientsOf(sops));
}

function recipientsProblem(recipients: readonly WrappedKey[]): string | undefined {
  if (recipients.length === 0) return 'it has no age recipient: add one with `sops updatekeys`';
  if (recipients.length > MAX_RECIPIENTS) return `expected at most ${MAX_RECIPIENTS} recipients`;
  const isLong = recipients.some(({ enc }) => enc.length > MAX_WRAPPED_LENGTH);
  return isLong ? 'a wrapped data key is too long: encrypt it again' : undefined;
}

/** Refuses encrypted names: they are checked, and shown to reviewers, before anything is decrypted. */
function identityProblem({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const encrypted = leavesOf({ apiVersion, kind, metadata }).find(({ value }) => isEncryptedValue(value));
  return encrypted && `${encrypted.path.join('.')} is encrypted: ${HINT}`;
}

/**
 * The checksum is over the values in the order of the file, so each one has its place there. Only labels and annotations may be added:
 * with a namespace of its own, a program could move a Secret to where somebody else reads it.
 */
function orderProblem(
  object: KubeObject,
  declared: unknown,
  leaves: readonly LeafPath[],
): string | undefined {
  if (!Array.isArray(declared)) {
    return 'the order of its values is unknown: read the file with YamlFile of kubenode/constructs';
  }
  if (declared.length > MAX_LEAVES) return `expected at most ${MAX_LEAVES} values: split the object`;
  const { sops: _, ...content } = object;
  const present = new Set(leavesOf(content).map(({ path }) => JSON.stringify(path)));
  const listed = new Set(leaves.map((path) => JSON.stringify(path)));
  const missing = leaves.find((path) => !present.has(JSON.stringify(path)));
  if (missing || listed.size !== declared.length) {
    return `${missing?.join('.') ?? 'a field'} was removed after it was encrypted: leave the object as in its file`;
  }
  const added = leavesOf(content).find(({ path }) => !listed.has(JSON.stringify(path)) && !mayBeAdded(path));
  return (
    added && `${added.path.join('.')} was added after it was encrypted: add it to the file with \`sops edit\``
  );
}

function mayBeAdded([first, second]: LeafPath): boolean {
  return first === 'metadata' && (second === 'labels' || second === 'annotations');
}

interface Leaf {
  readonly path: LeafPath;
  readonly value: unknown;
}

function leavesOf(value: unknown, path: LeafPath = []): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => leavesOf(item, [...path, index]));
  if (isRecord(value)) return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
  return value === null || value === undefined ? [] : [{ path, value }];
}
