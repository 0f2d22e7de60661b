/** Makes the Machines of the hosts that passed, with pinned keys, as objects and as TypeScript for a fleet. Pure. */
import { nodeNameReason } from '../../../../api/validation/names.ts';
import { API_VERSION } from '../../../../api/version.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { ListedHost } from '../hosts/host.ts';
import type { HostReport } from './report.ts';

/** A Machine with the fields that a person would write: the API server sets the others. */
export interface ImportedMachine {
  readonly apiVersion: string;
  readonly kind: 'Machine';
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: object;
}

export interface ImportedMachines {
  readonly machines: readonly ImportedMachine[];
  /** Why there is no Machine for a host that passed. */
  readonly problems: readonly string[];
}

export interface MachineSettings {
  /** The Secret with the private key, for the controllers. */
  readonly secret: string;
  readonly skipped: readonly string[];
}

export function makeMachines(
  hosts: readonly ListedHost[],
  reports: readonly HostReport[],
  settings: MachineSettings,
): ImportedMachines {
  const passed = reports.flatMap((report, index) => {
    const host = hosts[index];
    return host && (report.state === 'Pass' || report.state === 'Warn') ? [{ host, report }] : [];
  });
  const names = Map.groupBy(passed, ({ report }) => report.name);
  const problems = passed.flatMap(({ report: { host, name } }) => {
    if (!isName(name)) {
      return [`${host} has no name for a Machine: give it one in --from`];
    }
    return (names.get(name)?.length ?? 0) > 1 ? [`${host} has the name of another host, ${name}`] : [];
  });
  const jumps = passed.flatMap(({ host: { via }, report: { host } }) =>
    !isPinned(via) ? [`${host} has a jump host without a pinned key: add hostKeys to its via in --from`] : [],
  );
  const machines = passed.flatMap(({ host, report: { name, hostKeys } }) =>
    isPinned(host.via) && isName(name) && names.get(name)?.length === 1
      ? [machineFor(name, { host, hostKeys, settings })]
      : [],
  );
  return { machines, problems: [...problems, ...jumps] };
}

function isName(name: string | undefined): name is string {
  return name !== undefined && nodeNameReason(name) === undefined;
}

/** A Machine pins the key of its jump host, too. */
function isPinned(via: ListedHost['via']): boolean {
  return via === undefined || via.hostKeys.type === 'Pinned';
}

interface Source extends Pick<HostReport, 'hostKeys'> {
  readonly host: ListedHost;
  readonly settings: MachineSettings;
}

function machineFor(name: string, { host, hostKeys, settings }: Source): ImportedMachine {
  const { target, zone, labels, via } = host;
  return {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name, ...optional('labels', labels) },
    spec: {
      infra: { provider: 'ssh' },
      import: {
        address: target.address,
        ...(target.port !== 22 && { port: target.port }),
        user: target.user,
        credentialsRef: { name: settings.secret },
        hostKeys: keysOf(hostKeys),
        ...(via?.hostKeys.type === 'Pinned' && {
          via: { ...via.target, hostKeys: keysOf(via.hostKeys.keys) },
        }),
        ...(settings.skipped.length > 0 && { skipChecks: settings.skipped }),
      },
      ...optional('zone', zone),
      ...(labels && { node: { labels } }),
    },
  };
}

function keysOf(keys: HostReport['hostKeys']): readonly object[] {
  return keys.map(({ algorithm, fingerprint }) => ({ algorithm, fingerprint }));
}
