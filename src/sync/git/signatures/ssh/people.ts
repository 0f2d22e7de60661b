/**
 * Finds out which SSH keys of a file of signers belong to one person: a key with two names is one person, and so is a name with two keys.
 * Pure.
 */
import { EVERYBODY } from '../../../commits.ts';
import type { AllowedSigners } from './allowed-signers.ts';
import { sshFingerprint } from './public-key.ts';

/** A person has fewer names and keys: more are found by a name that all lines share, such as `*`. */
const MAX_OWNED = 100;

export type KeyOwners = (key: string) => readonly string[];

/** Returns the names and keys of the person with a key (in base64), over any number of lines that lead to it. */
export function createKeyOwners(byKey: AllowedSigners['byKey']): KeyOwners {
  let keysByName: ReadonlyMap<string, readonly string[]> | undefined;
  const known = new Map<string, readonly string[]>();
  return (key) => {
    keysByName ??= indexByName(byKey);
    const found = known.get(key) ?? ownerOf(key, byKey, keysByName);
    known.set(key, found);
    return found;
  };
}

function ownerOf(
  key: string,
  byKey: AllowedSigners['byKey'],
  keysByName: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const names = new Set<string>();
  const keys = new Set([key]);
  // A set may grow while it is iterated: the loop ends when nothing new is found.
  for (const each of keys) {
    for (const name of namesOf(byKey, each)) {
      names.add(name);
      for (const other of keysByName.get(name) ?? []) keys.add(other);
    }
    if (names.size + keys.size > MAX_OWNED) return [EVERYBODY];
  }
  return [...names, ...[...keys].map((each) => sshFingerprint(Buffer.from(each, 'base64')))];
}

function indexByName(byKey: AllowedSigners['byKey']): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const key of byKey.keys()) {
    for (const name of namesOf(byKey, key)) {
      const keys = found.get(name);
      if (keys) keys.push(key);
      else found.set(name, [key]);
    }
  }
  return found;
}

/** A line may list several names, separated by commas. */
function namesOf(byKey: AllowedSigners['byKey'], key: string): readonly string[] {
  const lines = byKey.get(key) ?? [];
  return lines.flatMap(({ principals }) => principals.split(',').map(personName)).filter(Boolean);
}

/** Returns the one spelling of a name, an address or a key. Case does not distinguish people. */
export function personName(text: string): string {
  return text.trim().toLowerCase();
}
