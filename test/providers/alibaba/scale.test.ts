/** 0 → N → 0 instances by the calls of the machine controller, while ECS fails and answers are lost. */
import { expect, it } from 'vitest';
import { COUNT, expectExactlyAsMany } from '../cloud/scale.ts';
import { CONFIG, openAlibabaHarness } from './harness.ts';

it(`MAC-30 has exactly as many instances as machines, sends at most two requests a machine and hour, and has none after it: ${COUNT}, whatever ECS answers`, async () => {
  await using bed = await openAlibabaHarness();
  const { server, provider } = bed;
  const instances = await expectExactlyAsMany({
    provider,
    config: CONFIG,
    existing: () =>
      Promise.resolve([...server.ecs.instances.keys()].map((id) => `alibaba://cn-hangzhou.${id}`)),
    requests: () => server.actions.length,
    failSometimes(draw) {
      server.draw = draw;
      return () => {
        server.draw = undefined;
      };
    },
  });
  expect(instances).toBe(COUNT);
});
