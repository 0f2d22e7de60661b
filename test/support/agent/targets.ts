/** Targets for tests: valid by default; a test overrides the fields that it is about. */
import { createHash } from 'node:crypto';
import type { UnitDefinition } from '../../../src/agent/host/port.ts';
import { versionDirectory } from '../../../src/agent/layout.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import type { ComponentFile } from '../../../src/api/generated/types.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';

export function agentUnit(name: string, fields: Partial<UnitDefinition> = {}): UnitDefinition {
  return {
    name,
    component: 'proxy',
    type: 'Service',
    enabled: true,
    running: true,
    timeoutSeconds: 300,
    exec: { argv: [`/opt/${name}`], env: {}, user: 'root' },
    restart: { policy: 'Always', delaySeconds: 5, maxPerMinute: 10 },
    stop: { signal: 'TERM', timeoutSeconds: 30 },
    existing: false,
    dropIns: [],
    ...fields,
  };
}

export function agentFile(path: string, content: string, fields: Partial<ComponentFile> = {}): ComponentFile {
  return {
    path,
    content,
    mode: '0644',
    owner: 'root:root',
    merge: 'Replace',
    drift: 'Correct',
    onChange: 'Restart',
    units: [],
    ...fields,
  };
}

/** The program of a version, as the artifact server has it. */
export function programOf(version: string): Uint8Array {
  return new TextEncoder().encode(`program ${version}`);
}

export function artifactUrl(version: string): string {
  return `https://artifacts.example.com/proxy-${version}`;
}

/** Component `proxy`: a program behind a link, a config file and a unit. */
export function target(version: string, fields: Partial<Target> = {}): Target {
  const sha256 = createHash('sha256').update(programOf(version)).digest('hex');
  const directory = versionDirectory('proxy', version, `sha256:${sha256}`);
  const made = {
    component: 'proxy',
    version,
    ref: `proxy-${version}`,
    digest: `sha256:${sha256}`,
    directory,
    identity: 'None' as const,
    artifact: {
      url: artifactUrl(version),
      mirrors: [],
      sha256,
      format: 'Raw' as const,
      install: [{ from: 'proxy', to: '/usr/local/bin/proxy', mode: '0755' }],
    },
    files: [agentFile('/etc/proxy/proxy.conf', `version ${version}\n`)],
    units: [agentUnit('proxy', { exec: { argv: [`${directory}/proxy`], env: {}, user: 'root' } })],
    probes: [],
    ports: {},
    activation: 'Restart' as const,
    commitAfterSeconds: 30,
    keepVersions: 2,
    rollbackSupported: true,
    dependsOn: [],
    ...fields,
  };
  return { ...made, id: fields.id ?? digestOf(made) };
}
