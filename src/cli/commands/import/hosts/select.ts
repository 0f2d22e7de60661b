/** Puts the hosts of the command line and of --from together. Pure. */
import { optional } from '../../../../kube/objects/optional.ts';
import type { JumpHost } from '../../../../providers/ssh/channel/route.ts';
import { formatTarget, parseTarget, type SshTarget } from '../../../../providers/ssh/target.ts';
import { CliError, EXIT } from '../../../errors.ts';
import { toInputError } from '../input-error.ts';
import { readHostsFile } from './file.ts';
import type { ListedHost } from './host.ts';

export interface HostSources {
  readonly args: readonly string[];
  readonly file?: { readonly path: string; readonly text: string };
  readonly defaults: Pick<SshTarget, 'port' | 'user'>;
  readonly via?: SshTarget;
  /** For all hosts. A label in the file replaces one of the same key. */
  readonly labels?: ListedHost['labels'];
}

/** Refuses all invalid hosts at once, and hosts that are named twice. */
export function selectHosts({ args, file, defaults, via, labels }: HostSources): readonly ListedHost[] {
  const jump: JumpHost | undefined = via && { target: via, hostKeys: { type: 'TrustOnFirstUse' } };
  const errors: CliError[] = [];
  const named = args.flatMap((text): readonly ListedHost[] => {
    try {
      return [{ target: parseTarget(text, defaults) }];
    } catch (error) {
      errors.push(toInputError(error));
      return [];
    }
  });
  const { hosts: listed, problems } = file ? readHostsFile(file.text, defaults) : { hosts: [], problems: [] };
  errors.push(
    ...problems.map(
      ({ line, message }) =>
        new CliError(message, { where: `${file?.path}:${line}`, exitCode: EXIT.badInput }),
    ),
  );
  const hosts = [...named, ...listed].map((host) => ({ ...optional('via', jump), ...host }));
  errors.push(...repeated(hosts));
  if (errors.length > 0) throw new AggregateError(errors, '');
  return hosts.map((host) => ({
    ...host,
    ...optional('labels', labels && { ...labels, ...host.labels }),
  }));
}

/** An address behind a jump host is that of its network. */
function repeated(hosts: readonly ListedHost[]): readonly CliError[] {
  const groups = Map.groupBy(hosts, ({ target, via }) =>
    JSON.stringify([placeOf(target), via && placeOf(via.target)]),
  );
  return [...groups.values()].flatMap(([first, second]) =>
    first && second
      ? [
          new CliError('the host is named twice', {
            where: formatTarget(first.target),
            hint: 'name it once',
            exitCode: EXIT.badInput,
          }),
        ]
      : [],
  );
}

function placeOf({ address, port }: SshTarget): string {
  return `${address.toLowerCase()} ${port}`;
}
