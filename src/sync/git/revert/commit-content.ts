/** Writes the content of a commit that sync makes. The same input gives the same bytes, so that a commit is made once. Pure. */
import { sshSignature } from '../signatures/ssh/sign.ts';

export interface NewCommit {
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
  readonly at: Date;
  /** A private key in the form of OpenSSH. Absent: the commit is not signed. */
  readonly signingKey?: string;
}

const SYNC = 'kubenode-sync <sync@kubenode.dev>';

export function commitContent(commit: NewCommit): Buffer {
  const { tree, parent, message, at, signingKey } = commit;
  const person = `${SYNC} ${Math.floor(at.getTime() / 1000)} +0000`;
  const header = `tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n`;
  const body = `\n${message}`;
  if (signingKey === undefined) return Buffer.from(`${header}${body}`);
  const signature = sshSignature(signingKey, Buffer.from(`${header}${body}`));
  return Buffer.from(`${header}gpgsig ${signature.split('\n').join('\n ')}\n${body}`);
}
