/** The components of the machine that is measured: twenty of a file and a unit with a probe, and a program with versions. */
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MACHINE_COMPONENTS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine, MachineComponent, MachineComponentSpec } from '../../src/api/generated/types.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { componentSpec } from '../../test/support/agent/component-spec.ts';
import { entryOf } from '../../test/support/agent/fake-api.ts';
import { agentFile } from '../../test/support/agent/targets.ts';

const MANAGER = 'bench';
const API_VERSION = 'kubenode.dev/v1alpha1';

export function configOf(component: string): string {
  return `/etc/${component}/${component}.conf`;
}

/** One of the twenty. Its unit is started by the agent, not by a restart policy. */
export function plainComponent(index: number): MachineComponentSpec {
  const component = `part-${index}`;
  const [unit] = componentSpec('1.0').units;
  if (!unit) throw new Error('the component has no unit');
  const exec = { argv: ['/bin/sleep', `1000000${index}`], env: {}, user: 'root' };
  const restart = { policy: 'Never', delaySeconds: 5, maxPerMinute: 10 } as const;
  const periods = { periodSeconds: 5, timeoutSeconds: 2, successThreshold: 1, failureThreshold: 3 };
  return componentSpec('1.0', {
    component,
    artifacts: [],
    files: [agentFile(configOf(component), `part ${index}\n`)],
    units: [{ ...unit, name: component, exec, restart }],
    probes: [{ name: 'runs', unit: { name: component }, ...periods }],
    commitAfterSeconds: 1,
  });
}

/** A version of `proxy`, downloaded once and then only in the cache. */
export async function publishProgram(folder: string, version: string, script: string): Promise<Published> {
  const program = `#!/bin/sh\necho "started ${version}"\n${script}\n`;
  const file = join(folder, version);
  await writeFile(file, program);
  const sha256 = createHash('sha256').update(program).digest('hex');
  const url = pathToFileURL(file).href;
  const artifact = { os: 'any', arch: 'any', url, mirrors: [], sha256, format: 'Raw', install: [] } as const;
  const spec = componentSpec(version, { artifacts: [artifact], commitAfterSeconds: 1 });
  return { spec, withdraw: () => rm(file) };
}

export interface Published {
  readonly spec: MachineComponentSpec;
  readonly withdraw: () => Promise<void>;
}

/** As the server stores them, with its defaults: the digests are made of that. */
export async function storeComponents(
  client: Client,
  specs: readonly MachineComponentSpec[],
): Promise<readonly MachineComponentSpec[]> {
  const stored: MachineComponentSpec[] = [];
  for (const spec of specs) {
    const metadata = { name: `${spec.component}-${spec.version}` };
    const object = { apiVersion: API_VERSION, kind: 'MachineComponent', metadata, spec };
    await client.apply(MACHINE_COMPONENTS, object, { fieldManager: MANAGER, force: true });
    stored.push((await client.get<MachineComponent>(MACHINE_COMPONENTS, metadata)).spec);
  }
  return stored;
}

/** With a grant for each entry, which a policy of the installation forbids: it is left out here. */
export async function declareMachine(
  client: Client,
  name: string,
  stored: readonly MachineComponentSpec[],
): Promise<void> {
  const components = stored.map((each) => entryOf(each));
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components };
  const machine = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec };
  await client.apply(MACHINES, machine, { fieldManager: MANAGER, force: true });
}

type Report = NonNullable<NonNullable<Machine['status']>['components']>[number];

export async function reportsOf(client: Client, name: string): Promise<readonly Report[]> {
  return (await client.get<Machine>(MACHINES, { name })).status?.components ?? [];
}
