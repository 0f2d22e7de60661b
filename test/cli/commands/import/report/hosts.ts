/** Outcomes and reports of hosts for the tests of an import. */
import type { ListedHost } from '../../../../../src/cli/commands/import/hosts/host.ts';
import type { HostOutcome } from '../../../../../src/cli/commands/import/inspect-all.ts';
import type { HostReport } from '../../../../../src/cli/commands/import/report/report.ts';
import { SshError } from '../../../../../src/providers/ssh/errors.ts';
import { preflightInput } from '../../../../providers/ssh/preflight/host-output.ts';

type Changes = Parameters<typeof preflightInput>[0];

export function importHost(address: string, more: Partial<ListedHost> = {}): ListedHost {
  return { target: { address, port: 22, user: 'root' }, ...more };
}

/** A host with a name, a machine id and a key of its own, unless the changes set others. */
export function inspected(host: ListedHost, changes: Changes = {}): HostOutcome {
  const { address } = host.target;
  const own = {
    hostname: address,
    'machine-id': Buffer.from(address).toString('hex').padEnd(32, '0'),
    'system-uuid': [],
  };
  const { facts, started, ended } = preflightInput({ ...own, ...changes });
  const hostKeys = host.hostKeys ?? [{ algorithm: 'ssh-ed25519', fingerprint: `SHA256:${address}` }];
  return { host, inspected: { facts, started, ended, hostKeys } };
}

export function failed(host: ListedHost, code: SshError['code']): HostOutcome {
  return { host, error: new SshError(code, 'it failed', { where: host.target.address, hint: 'fix it' }) };
}

export function hostReport(more: Partial<HostReport> = {}): HostReport {
  return {
    host: 'root@n1:22',
    name: 'n1',
    state: 'Pass',
    hostKeys: [{ algorithm: 'ssh-ed25519', fingerprint: `SHA256:${'a'.repeat(43)}` }],
    hostKeysPinned: false,
    checks: [{ check: 'Swap', state: 'Pass', found: 'off' }],
    skippedChecks: [],
    ...more,
  };
}
