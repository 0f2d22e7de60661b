import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeMachines } from '../../../../../src/cli/commands/import/report/machines.ts';
import { formatMachineModule } from '../../../../../src/cli/commands/import/report/typescript.ts';
import { Fleet, type FleetCluster } from '../../../../../src/constructs/index.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { hostReport, importHost } from './hosts.ts';

const LABELS = { pool: 'storage', 'example.com/a-b': '' };

describe('formatMachineModule', () => {
  it('is a module of a fleet, which renders to these Machines', async () => {
    const hosts = [importHost('n1', { zone: 'z1', labels: LABELS }), importHost('n2')];
    const reports = [hostReport(), hostReport({ name: 'n2' })];
    const { machines } = makeMachines(hosts, reports, { secret: 'ssh', skipped: ['Swap'] });
    const file = join(tempFolder('module'), 'hosts.ts');
    writeFileSync(file, formatMachineModule(machines));
    const module = (await import(file)) as { declareHosts(cluster: FleetCluster): void };
    const cluster = new Fleet().cluster('test', {
      environment: 'test',
      connection: { credentialsRef: { name: 'test' } },
    });
    module.declareHosts(cluster);
    expect(cluster.unit('hosts').toJson()).toEqual(machines);
  });

  it('MAC-12 makes no code of what a text contains', () => {
    const text = `'); process.exit(1); // \\ \n \${x} "`;
    const machine = {
      apiVersion: 'a',
      kind: 'Machine',
      metadata: { name: text },
      spec: { [text]: [text, 1, true, [], {}] },
    } as const;
    const module = formatMachineModule([machine]);
    const [, name = '', props = ''] = /new Machine\(chart, ('.*'), (\{[\s\S]*\})\);\n\}/.exec(module) ?? [];
    // oxlint-disable-next-line no-implied-eval, typescript/no-implied-eval -- as the compiler reads the literals
    const read = new Function(`return [${name}, ${props}]`) as () => unknown;
    expect(read()).toEqual([text, { metadata: machine.metadata, spec: machine.spec }]);
  });
});
