/**
 * Recognizes objects that SOPS encrypted, and records the order of their values in the file. The checksum of SOPS depends on it, and
 * neither cdk8s nor JSON keeps it.
 */
import { isMap, isPair, isScalar, isSeq } from 'yaml';
import { isRecord } from '../objects/json.ts';
import type { KubeObject } from '../objects/object.ts';

export type LeafPath = readonly (string | number)[];

/** Tells whether SOPS encrypted the object. An operator in the cluster decrypts a SopsSecret: it passes as it is. */
export function isSopsEncrypted(object: unknown): boolean {
  if (!isRecord(object) || !isRecord(object['sops'])) return false;
  const isForOperator = object['kind'] === 'SopsSecret' && object['apiVersion'] !== 'v1';
  return typeof object['sops']['mac'] === 'string' && !isForOperator;
}

export type ReadLeaves = { readonly object: KubeObject } | { readonly problem: string };

/** Returns the object with `sops.leaves`: the path of each value, in the order of the file. `contents` is its YAML. */
export function withLeaves(object: KubeObject, contents: unknown): ReadLeaves {
  const leaves: LeafPath[] = [];
  const problem = addLeaves(contents, [], leaves);
  if (problem !== undefined) return { problem };
  const sops = isRecord(object['sops']) ? object['sops'] : {};
  return { object: { ...object, sops: { ...sops, leaves } } };
}

/** Returns why the order is unknown. SOPS neither encrypts null nor counts it. */
function addLeaves(node: unknown, path: LeafPath, leaves: LeafPath[]): string | undefined {
  if (node === null || node === undefined) return undefined;
  if (isScalar(node)) {
    if (node.value !== null) leaves.push(path);
    return undefined;
  }
  if (isMap(node)) return firstProblem(node.items, (item) => addPair(item, path, leaves));
  if (isSeq(node)) {
    return firstProblem(node.items, (item, index) => addLeaves(item, [...path, index], leaves));
  }
  return 'an encrypted file cannot have YAML aliases: encrypt it again with sops, which resolves them';
}

function addPair(pair: unknown, path: LeafPath, leaves: LeafPath[]): string | undefined {
  if (!isPair(pair) || !isScalar(pair.key)) return 'an encrypted file can have only text as keys';
  const key = String(pair.key.value);
  return path.length === 0 && key === 'sops' ? undefined : addLeaves(pair.value, [...path, key], leaves);
}

function firstProblem<T>(
  items: readonly T[],
  problemOf: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = problemOf(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
