/** One real sshd for the tests of a file, and a user who may log in. */
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { tempFolder } from '../../support/temp.ts';
import {
  makeUserKey,
  type SshServer,
  type SshServerOptions,
  sshUnavailableReason,
  startSshServer,
  type UserKey,
} from './sshd.ts';

/** Undefined: sshd can be started here. */
export const unavailable = sshUnavailableReason();
/** The end of the title of such tests. */
export const note = unavailable === undefined ? '' : ` (skipped: ${unavailable})`;

export interface OwnSshd {
  readonly root: string;
  /** Both are there once the tests run. */
  readonly key: () => UserKey;
  readonly server: () => SshServer;
}

/** Starts the server before the tests of the block in which it is called, and ends it after them. */
export function ownSshd(name: string, options: Omit<SshServerOptions, 'authorized'> = {}): OwnSshd {
  const root = tempFolder(name);
  let started: { readonly key: UserKey; readonly server: SshServer } | undefined;
  beforeAll(async () => {
    const key = makeUserKey(root, 'user');
    const authorized = [key.publicKey];
    started = { key, server: await startSshServer(join(root, 'server'), { ...options, authorized }) };
  });
  afterAll(() => started?.server.close());
  const running = (): NonNullable<typeof started> => {
    if (!started) throw new Error('sshd was not started');
    return started;
  };
  return { root, key: () => running().key, server: () => running().server };
}
