/** A host to import, from the arguments of the command or from a file. */
import type { HostKey } from '../../../../api/generated/types.ts';
import type { JumpHost } from '../../../../providers/ssh/channel/route.ts';
import { formatTarget, type SshTarget } from '../../../../providers/ssh/target.ts';

export interface ListedHost {
  readonly target: SshTarget;
  /** The name of the Machine. By default it is the host name. */
  readonly name?: string;
  readonly zone?: string;
  /** The labels of the Machine, by which sets select it, and of its Node. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The pinned keys. Undefined: those that the host shows are used, and have to be compared by a person. */
  readonly hostKeys?: readonly HostKey[];
  readonly via?: JumpHost;
}

export function hostLabel({ target }: Pick<ListedHost, 'target'>): string {
  return `host ${formatTarget(target)}`;
}
