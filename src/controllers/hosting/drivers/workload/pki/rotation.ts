/**
 * The keys of a control plane while others take over, as files of the Secret with all keys. Both are kept in files of their own until the end, and
 * what members read is derived from them by the phase, so that an interrupted change is simply repeated. Pure.
 */
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { keyDigestOf } from '../../../../../local/pki/report.ts';
import {
  findKey,
  type KeptAuthorities,
  keptName,
  keyContent,
  neededAges,
  newKey,
  phaseKeys,
  tokenKeys,
} from '../../authorities/keys.ts';
import type { KeyDigests, RotationState } from '../../authorities/record.ts';
import { type KeyName, PLANE_KEYS } from '../../keys.ts';
import { type AuthorityAge, PHASE_AUTHORITIES } from '../../rotation.ts';
import type { WorkloadRecord } from '../record.ts';
import { KEY_FILES, type KeyFiles, lostKeysOf, trustedFile } from './keys.ts';

const AGES: readonly AuthorityAge[] = ['old', 'new'];

function keptFile(name: KeyName, age: AuthorityAge): string {
  return keptName(KEY_FILES[name], age);
}

/** Keeps the keys that are in use, and makes those that take over. Keys that are kept already may be recorded by another hosting in a moment. */
export function keepKeys(files: KeyFiles, made: { readonly id: string; readonly now: Date }): KeyFiles {
  const kept = PLANE_KEYS.flatMap((name) => {
    const current = files[KEY_FILES[name]] ?? '';
    const [old, next] = AGES.map((age) => files[keptFile(name, age)]);
    const isKept = keyDigestOf(old) === keyDigestOf(current) && keyDigestOf(next) !== undefined;
    return isKept
      ? []
      : [
          [keptFile(name, 'old'), current] as const,
          [keptFile(name, 'new'), newKey(name, current, made)] as const,
        ];
  });
  return kept.length === 0 ? files : { ...files, ...Object.fromEntries(kept) };
}

/** Returns the digests of the kept keys. */
export function keptKeyDigests(files: KeyFiles): KeyDigests {
  const digests = (age: AuthorityAge): KeyDigests['old'] =>
    Object.fromEntries(
      PLANE_KEYS.flatMap((name) => {
        const digest = keyDigestOf(files[keptFile(name, age)]);
        return digest === undefined ? [] : [[name, digest]];
      }),
    );
  return { old: digests('old'), new: digests('new') };
}

/**
 * Returns the files with the keys that issue in the phase, and the certificates that are trusted in it. Kept files are those of the recorded keys
 * again, wherever these still are. Without a rotation, and while one ends, nothing is kept and one authority is trusted.
 */
export function withDerivedKeys(files: KeyFiles, rotation: RotationState | undefined): KeyFiles {
  if (!rotation || rotation.phase === 'Completed') return withoutKept(files);
  const { phase, keys, isEnding } = rotation;
  if (!keys) return files;
  const derived = PLANE_KEYS.flatMap((name) => derivedFiles(name, files, { phase, keys }));
  const after = { ...files, ...Object.fromEntries(derived) };
  return isEnding === true ? withoutKept(after) : after;
}

type MadeRotation = Pick<RotationState, 'phase'> & { readonly keys: KeyDigests };

function derivedFiles(
  name: KeyName,
  files: KeyFiles,
  { phase, keys }: MadeRotation,
): readonly (readonly [string, string])[] {
  const { issuing, beside } = phaseKeys(phase);
  const found = readKept(files, name, keys);
  const kept = AGES.flatMap((age) => {
    const text = found[age];
    return text === undefined ? [] : [[keptFile(name, age), text] as const];
  });
  const issues = found[issuing];
  if (issues === undefined) return kept;
  const trusted = beside && found[beside];
  const key = [KEY_FILES[name], keyContent(name, issues, trusted)] as const;
  if (name === 'service-accounts') return [...kept, key];
  const certificates = [issues, trusted].map((text) => parsePair(text)?.certPem ?? '');
  return [...kept, key, [trustedFile(name), certificates.join('')]];
}

/** Returns the recorded keys. After the kept files were removed at the end of a rotation, the file that members read has the key that stays. */
function readKept(
  files: KeyFiles,
  name: KeyName,
  keys: KeyDigests,
): Readonly<Record<AuthorityAge, string | undefined>> {
  const read = (age: AuthorityAge): string | undefined =>
    findKey(name, [files[keptFile(name, age)], files[KEY_FILES[name]]], keys[age][name]);
  return { old: read('old'), new: read('new') };
}

/** Returns the files as they are when no rotation is in work: one authority is trusted, and one key signs tokens. */
export function withoutKept(files: KeyFiles): KeyFiles {
  const over = PLANE_KEYS.flatMap((name) => [
    ...AGES.map((age) => keptFile(name, age)),
    ...(name === 'service-accounts' ? [] : [trustedFile(name)]),
  ]);
  const tokens = KEY_FILES['service-accounts'];
  return Object.fromEntries(
    Object.entries(files)
      .filter(([name]) => !over.includes(name))
      .map(([name, text]) => [name, name === tokens ? (tokenKeys(text)[0] ?? text) : text]),
  );
}

/** Returns the former and the new authority as they are recorded, with their keys. */
export function keptAuthorities(files: KeyFiles, name: KeyName, keys: KeyDigests): KeptAuthorities {
  const { old, new: next } = readKept(files, name, keys);
  return { old: parsePair(old), new: parsePair(next) };
}

type KeyRecord = Pick<WorkloadRecord, 'keys' | 'rotation'>;

/** Returns the problems of the keys that are made once. While others take over, those that the phase trusts must be there. */
export function lostPlaneKeys(files: KeyFiles, record: KeyRecord): readonly string[] {
  return lostAges(files, record, ({ phase }) => PHASE_AUTHORITIES[phase].trusts);
}

/** Returns the problems of the keys without which nothing can be done, also nothing taken back. */
export function lostNeededKeys(files: KeyFiles, record: KeyRecord): readonly string[] {
  return lostAges(files, record, neededAges);
}

function lostAges(
  files: KeyFiles,
  { keys: recorded, rotation }: KeyRecord,
  agesOf: (rotation: RotationState) => readonly AuthorityAge[],
): readonly string[] {
  const keys = rotation?.phase === 'Completed' ? undefined : rotation?.keys;
  if (!rotation || !keys) return lostKeysOf(files, recorded);
  return PLANE_KEYS.flatMap((name) => {
    const found = readKept(files, name, keys);
    return agesOf(rotation).flatMap((age) =>
      keys[age][name] === undefined || found[age] !== undefined
        ? []
        : [`${keptFile(name, age)} is missing, damaged or another one`],
    );
  });
}
