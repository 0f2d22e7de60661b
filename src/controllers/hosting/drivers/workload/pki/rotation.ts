/**
 * The keys of a control plane while others take over, as files of the Secret with all keys. Both are kept in files of their own until the end, and
 * what members read is derived from them by the phase, so that an interrupted change is simply repeated. Pure.
 */
import { parsePair } from '../../../../../local/pki/inspect.ts';
import { keyDigestOf } from '../../../../../local/pki/report.ts';
import { type KeptAuthorities, keptName, keyContent, newKey, phaseKeys } from '../../authorities/keys.ts';
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

/** Returns the files with the keys that issue in the phase, and the certificates that are trusted in it. */
export function withDerivedKeys(files: KeyFiles, rotation: RotationState | undefined): KeyFiles {
  if (!rotation?.keys || rotation.phase === 'Completed') return files;
  const { phase, keys } = rotation;
  const derived = PLANE_KEYS.flatMap((name) => derivedFiles(name, files, { phase, keys }));
  return { ...files, ...Object.fromEntries(derived) };
}

type MadeRotation = Pick<RotationState, 'phase'> & { readonly keys: KeyDigests };

function derivedFiles(
  name: KeyName,
  files: KeyFiles,
  { phase, keys }: MadeRotation,
): readonly (readonly [string, string])[] {
  const { issuing, beside } = phaseKeys(phase);
  const read = (age: AuthorityAge): string | undefined =>
    readKept(files, name, { age, digest: keys[age][name] });
  const issues = read(issuing);
  if (issues === undefined) return [];
  const trusted = beside && read(beside);
  const key = [KEY_FILES[name], keyContent(name, issues, trusted)] as const;
  if (name === 'service-accounts') return [key];
  const certificates = [issues, trusted].map((text) => parsePair(text)?.certPem ?? '');
  return [key, [trustedFile(name), certificates.join('')]];
}

interface KeptKey {
  readonly age: AuthorityAge;
  readonly digest: string | undefined;
}

/** Returns the kept key. After it was removed at the end of a rotation, the file that members read has it. */
function readKept(files: KeyFiles, name: KeyName, { age, digest }: KeptKey): string | undefined {
  const kept = files[keptFile(name, age)];
  if (kept !== undefined || digest === undefined) return kept;
  const current = files[KEY_FILES[name]];
  return keyDigestOf(current) === digest ? current : undefined;
}

/** Returns the files as they are when the rotation is over. */
export function withoutKept(files: KeyFiles): KeyFiles {
  const over = PLANE_KEYS.flatMap((name) => [
    ...AGES.map((age) => keptFile(name, age)),
    ...(name === 'service-accounts' ? [] : [trustedFile(name)]),
  ]);
  return Object.fromEntries(Object.entries(files).filter(([name]) => !over.includes(name)));
}

/** Returns the former and the new authority, with their keys. */
export function keptAuthorities(files: KeyFiles, name: KeyName): KeptAuthorities {
  return { old: parsePair(files[keptFile(name, 'old')]), new: parsePair(files[keptFile(name, 'new')]) };
}

/** Returns the problems of the keys that are made once. While others take over, the kept ones that are trusted must be there. */
export function lostPlaneKeys(files: KeyFiles, record: WorkloadRecord): readonly string[] {
  const { rotation } = record;
  const keys = rotation?.phase === 'Completed' ? undefined : rotation?.keys;
  if (!rotation || !keys) return lostKeysOf(files, record.keys);
  return PLANE_KEYS.flatMap((name) =>
    PHASE_AUTHORITIES[rotation.phase].trusts.flatMap((age) => {
      const digest = keys[age][name];
      const isKept = [keptFile(name, age), KEY_FILES[name]].some(
        (file) => keyDigestOf(files[file]) === digest,
      );
      return digest === undefined || isKept
        ? []
        : [`${keptFile(name, age)} is missing, damaged or another one`];
    }),
  );
}
