/** Finds out whether the user of a local repository may approve, before git signs: by the names and the SSH key that git is configured with. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { EVERYBODY } from '../../../../sync/commits.ts';
import { personName } from '../../../../sync/git/signatures/ssh/people.ts';
import { sshFingerprint } from '../../../../sync/git/signatures/ssh/public-key.ts';
import type { LocalRepository } from '../../../commit/repository.ts';

/** Returns why the approval would not count; undefined if it may. An OpenPGP key is judged by the names of its user alone. Pure. */
export function selfApprovalReason(
  excluded: readonly string[] | undefined,
  own: readonly string[],
): string | undefined {
  if (!excluded) return undefined;
  if (excluded.includes(EVERYBODY)) return 'not everybody who has part in these commits is known';
  const same = own.find((name) => excluded.includes(name));
  return same === undefined ? undefined : `${same}, as whom git commits here, has part in these commits`;
}

/** Returns the names, the addresses and the SSH key of the user, in the spelling of Releases. */
export async function readOwnNames({ root, git }: LocalRepository): Promise<readonly string[]> {
  const ask = (...args: readonly string[]): Promise<string> => git(...args).catch(() => '');
  const idents = [await ask('var', 'GIT_AUTHOR_IDENT'), await ask('var', 'GIT_COMMITTER_IDENT')];
  const key = (await ask('config', 'gpg.format')) === 'ssh' ? await ask('config', 'user.signingkey') : '';
  const blob = key === '' ? undefined : keyIn(await keyText(key, root));
  const names = [...idents.flatMap(namesIn), ...(blob ? [sshFingerprint(blob)] : [])];
  return [...new Set(names.map(personName))].filter(Boolean);
}

/** Splits `Ann <ann@example.com> 1893456000 +0000`. */
function namesIn(ident: string): readonly string[] {
  const { name = '', address = '' } = /^(?<name>[^<]*)<(?<address>[^>]*)>/.exec(ident)?.groups ?? {};
  return [name, address];
}

const LITERAL = /^(?:key::)?(?=(?:ssh-|ecdsa-|sk-)\S+ )/;

/** Git takes the key itself, or a file: that of the public key, or of the private one beside it. */
async function keyText(key: string, root: string): Promise<string> {
  if (LITERAL.test(key)) return key.replace(LITERAL, '');
  const file = resolve(root, key.replace(/^~(?=\/)/, homedir()));
  for (const path of [file.replace(/(\.pub)?$/, '.pub'), file]) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (keyIn(text)) return text;
  }
  return '';
}

function keyIn(text: string): Buffer | undefined {
  const { blob } = /^(?:ssh-|ecdsa-|sk-)\S+ +(?<blob>[A-Za-z0-9+/=]+)/.exec(text.trim())?.groups ?? {};
  return blob === undefined ? undefined : Buffer.from(blob, 'base64');
}
