/** The NetworkPolicies permit the ports that the programs listen on and call: without this test a port that is added to one is missed in the other. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { LABEL_SCRAPE } from '../../src/api/names.ts';
import { programsOf } from '../../src/cli/commands/install/deploy.ts';
import { createProgram } from '../../src/cli/program.ts';
import { networkPolicySpec } from '../../src/deploy/network-policy.ts';
import {
  CONTROLLERS,
  type DeployedProgram,
  EXTENSION_PORT,
  HEALTH_PORT,
  HOSTING,
  SYNC,
  SYNC_WITH_WEBHOOKS,
} from '../../src/deploy/programs.ts';
import { renderWorkload } from '../../src/deploy/workload.ts';
import { listAt, textAt, valueAt } from '../../src/kube/objects/json.ts';
import { parseRepository } from '../../src/sync/git/repository-url.ts';
import { testIo } from '../support/test-io.ts';

const GUIDE = new URL('../../docs/guides/install.md', import.meta.url);
const WITH_EXTENSION = programsOf({ cluster: true, clusterApi: true, updateExtension: true });
const PROGRAMS = [SYNC, SYNC_WITH_WEBHOOKS, CONTROLLERS, ...WITH_EXTENSION, HOSTING];

/** The arguments of the one container, as commander parses them. */
async function parsedFlags(program: DeployedProgram): Promise<Readonly<Record<string, unknown>>> {
  const settings = { image: 'registry.example.com/kubenode:1', replicas: 1, egressPorts: [] };
  const deployment = renderWorkload(program, settings).find(({ kind }) => kind === 'Deployment');
  const [container] = listAt(deployment, 'spec', 'template', 'spec', 'containers');
  const [name = '', ...args] = listAt(container, 'args').map(String);
  const command = commandOf(await createProgram(testIo(), [name]), name);
  command.parseOptions(args);
  return command.opts();
}

function commandOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (!found) throw new Error(`no command ${name}`);
  return found;
}

function policyOf(program: DeployedProgram, morePorts: readonly number[] = []): unknown {
  return networkPolicySpec(program, {}, morePorts);
}

describe.each(PROGRAMS)('the NetworkPolicy of $name', (program) => {
  it('opens exactly the ports that its flags name', async () => {
    const flags = await parsedFlags(program);
    const listening = Object.entries(flags).filter(([name]) => /port$/i.test(name));
    const opened = listAt(policyOf(program), 'ingress').flatMap((rule) => listAt(rule, 'ports'));
    const named = listening.map(([, port]) => Number(port)).toSorted((a, b) => a - b);
    expect(opened.map((port) => valueAt(port, 'port'))).toEqual(named);
    expect(opened[0]).toEqual({ port: HEALTH_PORT, protocol: 'TCP' });
  });

  it('opens the health port only to namespaces with the label that the guide sets', () => {
    const [health] = listAt(policyOf(program), 'ingress');
    const peers = listAt(health, 'from');
    expect(peers).toEqual([{ namespaceSelector: { matchLabels: { [LABEL_SCRAPE]: 'true' } } }]);
    expect(readFileSync(GUIDE, 'utf8')).toContain(`kubectl label namespace monitoring ${LABEL_SCRAPE}=true`);
  });

  it('permits the ports that the guide names, and those of --egress-port', () => {
    const [rule] = listAt(policyOf(program, [8443]), 'egress');
    const tcp = listAt(rule, 'ports').filter((port) => textAt(port, 'protocol') === 'TCP');
    const ports = tcp.map((port) => Number(valueAt(port, 'port'))).filter((port) => port !== DNS);
    expect(ports).toEqual([...program.egressPorts, 8443].toSorted((a, b) => a - b));
    expect(rowOf(program)).toBe([...program.egressPorts].toSorted((a, b) => a - b).join(', '));
  });
});

describe('the port of the update extension', () => {
  it('is open only to the namespace of Cluster API, by the label of its manifests', () => {
    const rules = WITH_EXTENSION.flatMap((program) => listAt(policyOf(program), 'ingress'));
    const matchLabels = { 'cluster.x-k8s.io/provider': 'cluster-api' };
    expect(rules).toContainEqual({
      from: [{ namespaceSelector: { matchLabels } }],
      ports: [{ port: EXTENSION_PORT, protocol: 'TCP' }],
    });
  });
});

describe('the ports of sync', () => {
  it('include those that a repository URL means without a port', () => {
    // The defaults of the schemes that sync fetches from, by their RFCs.
    const defaults = new Map([
      ['https://git.example.com/fleet.git', 443],
      ['git@git.example.com:fleet.git', 22],
    ]);
    expect([...defaults.keys()].map((url) => parseRepository(url).scheme)).toEqual(['http', 'ssh']);
    expect(SYNC.egressPorts).toEqual(expect.arrayContaining([...defaults.values()]));
    expect(SYNC.usesDns).toBe(true);
  });
});

const DNS = 53;

/** From the table of the guide: which ports a pod connects to. */
function rowOf(program: DeployedProgram): string {
  const row =
    readFileSync(GUIDE, 'utf8')
      .split('\n')
      .find((line) => line.startsWith('| connects to |')) ?? '';
  const column = [SYNC.name, CONTROLLERS.name, HOSTING.name].indexOf(program.name) + 2;
  const cell = row.split('|')[column] ?? '';
  return [...cell.matchAll(/\d+/g)].map(([port]) => port).join(', ');
}
