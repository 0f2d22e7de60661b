/**
 * Reads the files in `files/`, which sops 3.13.3 encrypted with age 1.3.2. The identities below were made for these files and open nothing
 * else. test/cluster/sync/sops.test.ts encrypts with the programs themselves.
 */
import { readFileSync } from 'node:fs';
import { readManifests } from '../../../src/kube/objects/manifests.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { type AgeKeys, readAgeKeys } from '../../../src/kube/sops/age-keys.ts';

export const FIRST_IDENTITY = 'AGE-SECRET-KEY-132QY7D9J43XKT9C0JJDU5LRJ7WK9PP303M29TAYY29LVGYFLS70Q4XSN53';
export const SECOND_IDENTITY = 'AGE-SECRET-KEY-13CN6R3AUC4NXFZRQ42J6H9WTAJ9QYX45U77FPTZTPCSFDY089X0Q8JZPC9';
export const POST_QUANTUM_IDENTITY =
  'AGE-SECRET-KEY-PQ-1SYEKTRUDFUY5FUQLXH43EU6VX4Y36Q0LAU92P6PLWCL7FDFKWG4SE9Z8GX';
export const FIRST_RECIPIENT = 'age1548skr6l2xj36hl8m995508ca4khn0trtl74ddf55talxewjt5zqt85y3n';
export const SECOND_RECIPIENT = 'age1zz43zn3pu6vz0x6ge4zkaqp0v4697ynje7c20jlw82yn65dak3qqjqm3m3';

export function firstKeys(): Promise<AgeKeys> {
  return readAgeKeys(FIRST_IDENTITY);
}

export function fileText(name: string): string {
  return readFileSync(new URL(`files/${name}`, import.meta.url), 'utf8');
}

/** Returns the object as a render yields it. `edit` changes the text of the file, as a person would. */
export function encryptedObject(name: string, edit: (text: string) => string = (text) => text): KubeObject {
  const { manifests, problems } = readManifests(edit(fileText(name)));
  const [first] = manifests;
  if (!first) throw new Error(`${name} has no object: ${JSON.stringify(problems)}`);
  return JSON.parse(JSON.stringify(first.object)) as KubeObject;
}
