/** Reads the private key, its passphrase and the password of sudo from files that only their owner may read. */
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { optional } from '../../../kube/objects/optional.ts';
import { messageOf } from '../../../os/errors.ts';
import { parsePrivateKey, type SshCredentials } from '../../../providers/ssh/channel/credentials.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { toInputError } from './input-error.ts';
import type { ImportFlags } from './options.ts';

export interface ImportSecrets {
  readonly credentials: SshCredentials;
  readonly sudoPassword?: string;
  /** The texts for --create-secret. Undefined with an agent, which does not give its keys away. */
  readonly texts?: SecretTexts;
}

export interface SecretTexts {
  readonly privateKey: string;
  readonly passphrase?: string;
  readonly sudoPassword?: string;
}

export async function readSecrets(io: Io, flags: ImportFlags): Promise<ImportSecrets> {
  const { identity, passphraseFile, sudoPasswordFile } = flags;
  const agent = io.env['SSH_AUTH_SOCK'];
  if (identity === undefined && !agent) {
    throw new CliError('no SSH key is given', {
      hint: 'name a private key with --identity FILE, or start an ssh-agent and add one (ssh-add)',
      exitCode: EXIT.usage,
    });
  }
  const sudoPassword = await readOptional(io, sudoPasswordFile);
  const sudo = optional('sudoPassword', sudoPassword);
  if (identity === undefined) return { credentials: optional('agent', agent), ...sudo };
  const privateKey = await readSecretFile(io, identity);
  const passphrase = await readOptional(io, passphraseFile);
  // A key that is named is the only one that is offered: servers count every key that they refuse.
  const credentials = optional('privateKey', parseKey(privateKey, passphrase, identity));
  return { credentials, ...sudo, texts: { privateKey, ...optional('passphrase', passphrase), ...sudo } };
}

async function readOptional(io: Io, file: string | undefined): Promise<string | undefined> {
  return file === undefined ? undefined : await readLine(io, file);
}

function parseKey(text: string, passphrase: string | undefined, file: string): SshCredentials['privateKey'] {
  try {
    return parsePrivateKey(text, passphrase, file);
  } catch (error) {
    throw toInputError(error);
  }
}

/** A password is the first line of its file. */
async function readLine(io: Io, file: string): Promise<string> {
  const [line = ''] = (await readSecretFile(io, file)).split(/\r?\n/);
  if (line !== '') return line;
  throw new CliError('the file is empty', { where: file, exitCode: EXIT.badInput });
}

/** Permission bits of the group and of all others. */
const OTHERS = 0o077;

async function readSecretFile(io: Io, file: string): Promise<string> {
  const path = resolve(io.cwd, file);
  try {
    const { mode } = await stat(path);
    if ((mode & OTHERS) === 0) return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`the file cannot be read: ${messageOf(error)}`, {
      where: file,
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
  throw new CliError('others can read this secret', {
    where: file,
    hint: `make it private: chmod 600 ${file}`,
    exitCode: EXIT.badInput,
  });
}
