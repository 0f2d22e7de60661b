/** Specs of MachineComponents as the API server stores them, with every default. */
import { createHash } from 'node:crypto';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { agentFile, artifactUrl, programOf } from './targets.ts';

export function componentSpec(
  version: string,
  fields: Partial<MachineComponentSpec> = {},
): MachineComponentSpec {
  const sha256 = createHash('sha256').update(programOf(version)).digest('hex');
  return {
    component: 'proxy',
    version,
    identity: 'None',
    parameters: [],
    ports: [],
    artifacts: [
      { os: 'any', arch: 'any', url: artifactUrl(version), mirrors: [], sha256, format: 'Raw', install: [] },
    ],
    files: [agentFile('/etc/proxy/proxy.conf', `version ${version}\n`)],
    units: [
      {
        name: 'proxy',
        type: 'Service',
        enabled: true,
        running: true,
        timeoutSeconds: 300,
        exec: { argv: ['${dir}/proxy', '--config', '/etc/proxy/proxy.conf'], env: {}, user: 'root' },
        restart: { policy: 'Always', delaySeconds: 5, maxPerMinute: 10 },
        stop: { signal: 'TERM', timeoutSeconds: 30 },
        existing: false,
        dropIns: [],
      },
    ],
    probes: [],
    activation: { class: 'Restart' },
    commitAfterSeconds: 30,
    keepVersions: 2,
    rollback: { supported: true },
    dependsOn: [],
    ...fields,
  };
}
