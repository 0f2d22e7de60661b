/** Files for ssh in a private folder, which the next process removes if this one is killed: key, known hosts, and a configuration that replaces the user's. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOwnedFolder, removeOwnedFolder } from '../../../os/worker/owned-folder.ts';
import { GitError } from '../errors.ts';

export interface SshFiles {
  readonly home: string;
  /** The ssh command for git to run. */
  readonly command: string;
}

interface SshOptions {
  readonly display: string;
  readonly credential?: string;
  readonly hostKeys?: readonly string[];
}

export async function createSshFiles({ display, credential, hostKeys = [] }: SshOptions): Promise<SshFiles> {
  if (hostKeys.length === 0) {
    throw new GitError('HostKey', 'no host key is declared, so the ssh server cannot be verified', {
      where: display,
      hint: "add the server's host key to spec.source.hostKeys (ssh-keyscan prints it; verify it with the owner of the server)",
    });
  }
  const home = await createOwnedFolder('ssh');
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(home, name), text, { mode: 0o600 });
    return join(home, name);
  };
  const knownHosts = await file('known_hosts', `${hostKeys.join('\n')}\n`);
  // OpenSSH refuses a key without a newline at the end.
  const key = await file('key', `${(credential ?? '').trim()}\n`);
  const config = await file('config', configOf(knownHosts, key));
  return { home, command: `ssh -F '${config}'` };
}

export async function removeSshFiles({ home }: SshFiles): Promise<void> {
  await removeOwnedFolder(home);
}

function configOf(knownHosts: string, key: string): string {
  return `Host *
  BatchMode yes
  StrictHostKeyChecking yes
  UserKnownHostsFile "${knownHosts}"
  GlobalKnownHostsFile none
  UpdateHostKeys no
  CheckHostIP no
  IdentityFile "${key}"
  IdentitiesOnly yes
  IdentityAgent none
  PubkeyAuthentication yes
  PasswordAuthentication no
  KbdInteractiveAuthentication no
  ForwardAgent no
  ClearAllForwardings yes
  ControlMaster no
  ControlPath none
  PermitLocalCommand no
  ConnectTimeout 15
  ServerAliveInterval 10
  ServerAliveCountMax 3
  LogLevel ERROR
`;
}
