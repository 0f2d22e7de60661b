/** The credentials for a host: a private key, the agent of the user, or both. They are never part of an error. */
import ssh2, { type ParsedKey } from 'ssh2';
import { SshError } from '../errors.ts';

export interface SshCredentials {
  readonly privateKey?: ParsedKey;
  /** The socket of an ssh-agent. */
  readonly agent?: string;
}

/** Returns the key, ready for use: to decrypt it takes a second, so it is done once. `where` is the file. */
export function parsePrivateKey(text: string, passphrase: string | undefined, where: string): ParsedKey {
  if (passphrase === undefined && isEncrypted(text)) {
    throw new SshError('InvalidKey', 'the private key has a passphrase', {
      where,
      hint: 'provide the passphrase in a file, or add the key to an agent (ssh-add) and leave the file out',
    });
  }
  const parsed = ssh2.utils.parseKey(text, passphrase);
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key !== undefined && !(key instanceof Error) && key.isPrivateKey()) return key;
  throw passphrase === undefined
    ? new SshError('InvalidKey', 'the file is not a private key', { where })
    : new SshError('InvalidKey', 'the private key cannot be read with this passphrase', {
        where,
        hint: 'check the passphrase (ssh-keygen -y -f FILE asks for it)',
      });
}

/** Recognizes an encrypted key in the format of OpenSSH, where a name of a cipher follows the magic, and in PEM. */
export function isEncrypted(privateKey: string): boolean {
  const body = /-----BEGIN OPENSSH PRIVATE KEY-----(?<body>[\sA-Za-z0-9+/=]+)-----END/.exec(privateKey);
  const encoded = body?.groups?.['body'];
  if (encoded === undefined) return /ENCRYPTED/.test(privateKey);
  const bytes = Buffer.from(encoded, 'base64');
  const start = OPENSSH_MAGIC.length + 4;
  const length = bytes.length > start ? bytes.readUInt32BE(OPENSSH_MAGIC.length) : 0;
  return bytes.toString('latin1', start, start + length) !== 'none';
}

const OPENSSH_MAGIC = 'openssh-key-v1\0';
