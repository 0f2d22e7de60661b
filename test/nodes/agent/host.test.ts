import { afterAll, beforeAll, describe } from 'vitest';
import { describeHostContract } from '../../support/agent/host-contract.ts';
import { AGENT_BINDS } from '../../support/agent/remote-host/place.ts';
import { type ContractNode, openContractNode } from '../../support/agent/systemd.ts';
import { type NodeKit, nodeKit, whyNoNodes } from '../../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

describe.skipIf(reason)(`a real node${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let node: ContractNode;

  beforeAll(async () => {
    kit = await nodeKit();
    node = await openContractNode(await kit.boot({ name: 'contract', binds: AGENT_BINDS }));
  });
  afterAll(async () => {
    await node?.[Symbol.asyncDispose]();
    await kit?.close();
  });

  // Every call of the tests runs inside the node: the real systemd, the real files.
  describeHostContract('systemd', () => node.open());
});
