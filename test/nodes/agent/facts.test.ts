import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { DiskFact, Machine, MachineFacts } from '../../../src/api/generated/types.ts';
import { type AgentNode, startAgentNode } from '../../support/agent/agent-node.ts';
import { eventually } from '../../support/eventually.ts';
import { whyNoNodes } from '../../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';
/** Where the file system of the test is. */
const DATA = '/data';

describe.skipIf(reason)(`facts of a real node${reason ? ` (${reason})` : ''}`, () => {
  let agent: AgentNode;

  beforeAll(async () => {
    agent = await startAgentNode(NAME);
  });
  afterAll(() => agent?.[Symbol.asyncDispose]());

  async function run(script: string): Promise<void> {
    await agent.node.run('sh', '-c', script);
  }

  async function facts(): Promise<MachineFacts | undefined> {
    return (await agent.installed.server.client.get<Machine>(MACHINES, { name: NAME })).status?.facts;
  }

  async function dataDisk(isExpected: (disk: DiskFact) => boolean): Promise<DiskFact> {
    const found = async (): Promise<DiskFact | undefined> => {
      const disk = (await facts())?.disk?.find(({ filesystem }) => filesystem === DATA);
      return disk && isExpected(disk) ? disk : undefined;
    };
    return await eventually(found, `${DATA} was not reported`, 120_000).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${await agent.log()}`, { cause: error });
    });
  }

  it('show a file system that fills up, as df shows it, and that was emptied', async () => {
    const config = JSON.stringify({ filesystems: { [DATA]: [DATA] } });
    await run(`mkdir -p ${DATA} /etc/kubenode && mount -t tmpfs -o size=64M tmpfs ${DATA}`);
    await run(`echo '${config}' > /etc/kubenode/jobs.json`);
    expect(await dataDisk(() => true)).toMatchObject({ usedPercent: 0 });
    await run(`head -c 50M /dev/zero > ${DATA}/file`);
    const { stdout } = await agent.node.run('df', '--output=pcent', DATA);
    const percent = Number(/\d+/.exec(stdout)?.[0]);
    // The agent may have measured it while the file was written.
    const full = await dataDisk(({ usedPercent }) => usedPercent === percent);
    expect(percent).toBeGreaterThan(0);
    expect(full.risingSince).toBeDefined();
    await run(`rm ${DATA}/file`);
    const emptied = await dataDisk(({ usedPercent }) => usedPercent === 0);
    expect(emptied).not.toHaveProperty('risingSince');
  });

  it('show that no task hangs', async () => {
    const probes = await eventually(async () => (await facts())?.probes, 'no probe was reported');
    expect(probes.find(({ name }) => name === 'hung-tasks')).toMatchObject({ result: 'Pass' });
  });
});
