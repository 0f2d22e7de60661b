import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import type { Machine } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_OWNER_HOLD } from '../../../../src/api/names.ts';
import { createClaimSource } from '../../../../src/controllers/following/karpenter/claim-source.ts';
import {
  NODE_CLAIMS,
  type NodeClaim,
  nodeClaim,
} from '../../../../src/controllers/following/karpenter/contract.ts';
import { createExternalController } from '../../../../src/controllers/following/karpenter/controller.ts';
import type { FollowSource } from '../../../../src/controllers/following/owner.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';
import { NODES } from '../../../../src/kube/objects/core-kinds.ts';
import type { Clock } from '../../../../src/os/clock.ts';
import { servedKind } from '../../../../src/sim/api-server/kinds.ts';
import { machine } from '../../../support/builders.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../../support/controller/bed.ts';
import { memoryLog } from '../../../support/memory-log.ts';
import { claimedNode, claimObject } from './claims.ts';

type BedOptions = Parameters<typeof createControllerBed>[0];
/** Kinds that are not served are looked for every 15 seconds. */
const APPEARS_MS = 20_000;

interface Served {
  isServed: boolean;
  clock?: Clock;
}

/** The controller with its real source, on an API server in memory that serves NodeClaims while `served` permits it. */
function optionsFor(served: Served): BedOptions {
  return {
    controllers: (client) => {
      const { clock } = served;
      if (!clock) throw new Error('the clock of the bed is not set');
      const asked = {
        ...client,
        resourceFor: async () => {
          if (!served.isServed) throw new KubeError('NotFound', 'not served');
          return NODE_CLAIMS;
        },
      };
      const source = createClaimSource({ client: asked, clock, log: memoryLog(), random: () => 0 });
      return [createExternalController({ source, client })];
    },
    kinds: [servedKind(MACHINES), servedKind(NODES), { resource: NODE_CLAIMS }],
    objects: [claimedNode(1), claimedNode(2)],
  };
}

async function start(served: Served = { isServed: true }): Promise<ControllerBed> {
  const bed = createControllerBed(optionsFor(served));
  served.clock = bed.clock;
  await bed.start();
  await bed.advance(2000);
  return bed;
}

async function put(bed: ControllerBed, ...claims: readonly ReturnType<typeof claimObject>[]): Promise<void> {
  for (const claim of claims) bed.apply(claim);
  await bed.advance(2000);
}

function holdOf(bed: ControllerBed, name: string): string | undefined {
  return bed.get<Machine>(MACHINES, name)?.metadata.annotations?.[ANNOTATION_OWNER_HOLD];
}

describe('the controller that follows Karpenter', () => {
  it('CAP-11 creates, changes and deletes Machines as NodeClaims are, and writes nothing twice', async () => {
    const bed = await start();
    await put(bed, claimObject(1), claimObject(2));
    expect(bed.writes().toSorted()).toEqual(['apply Machine node-1', 'apply Machine node-2']);
    expect(bed.get<Machine>(MACHINES, 'node-1')).toMatchObject({
      metadata: { labels: { pool: 'general', 'karpenter.sh/nodepool': 'general' } },
      spec: {
        zone: 'zone-a',
        infra: {
          provider: 'external',
          config: { kind: 'NodeClaim', name: 'general-1', providerID: 'inst://1' },
        },
      },
    });
    await put(bed, claimObject(2, { labels: { pool: 'gpu' } }));
    expect(bed.writes()).toEqual(['apply Machine node-2']);
    bed.delete(NODE_CLAIMS, 'general-1');
    await bed.advance(2000);
    expect(bed.writes()).toEqual(['delete Machine node-1']);
    bed.delete(MACHINES, 'node-2');
    await bed.advance(2000);
    expect(bed.writes()).toEqual(['apply Machine node-2']);
  });

  it('CAP-11 begins when Karpenter is installed, and creates nothing until then', async () => {
    const served: Served = { isServed: false };
    const bed = await start(served);
    await put(bed, claimObject(1));
    expect(bed.writes()).toEqual([]);
    const reports = bed.log.lines.filter(({ message }) => message === 'karpenter is not read');
    expect(reports).toHaveLength(1);
    served.isServed = true;
    await bed.advance(APPEARS_MS);
    expect(bed.writes()).toEqual(['apply Machine node-1']);
  });

  it('CAP-13 holds the machine by taints and annotations of its Node, and ends the hold with them', async () => {
    const bed = await start();
    await put(bed, claimObject(1));
    expect(holdOf(bed, 'node-1')).toBeUndefined();
    bed.apply(claimedNode(1, { taint: 'karpenter.sh/disrupted' }));
    await bed.advance(2000);
    expect(holdOf(bed, 'node-1')).toBe('NodeDisrupted: Node node-1 has the taint karpenter.sh/disrupted');
    bed.apply(claimedNode(1, { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }));
    await bed.advance(2000);
    expect(holdOf(bed, 'node-1')).toMatch(/^DoNotDisrupt: Node node-1 /);
    bed.apply(claimedNode(1));
    await bed.advance(2000);
    expect(holdOf(bed, 'node-1')).toBeUndefined();
  });

  it('CAP-12 leaves the Machine of a person alone, also when the NodeClaim is deleted', async () => {
    const bed = await start();
    const { metadata: _, status: __, ...rest } = machine('node-1');
    bed.apply({ ...rest, metadata: { name: 'node-1' } });
    await put(bed, claimObject(1));
    bed.delete(NODE_CLAIMS, 'general-1');
    await bed.advance(2000);
    expect(bed.writes()).toEqual([]);
    expect(bed.get<Machine>(MACHINES, 'node-1')?.spec.infra.provider).toBe('local');
  });

  it('CAP-11 ends the same whichever write the process was killed at', async () => {
    const claims = [nodeClaim(claimObject(1)), nodeClaim(claimObject(2))];
    const source: FollowSource<NodeClaim> = {
      open: (changed) => {
        changed();
        return () => undefined;
      },
      read: () => claims,
      list: async () => claims,
    };
    const options: BedOptions = {
      ...optionsFor({ isServed: true }),
      controllers: (client) => [createExternalController({ source, client })],
    };
    const writes = await sweepCrashes(options, (bed, crash) => {
      const found = ['node-1', 'node-2'].map(
        (name) => bed.get<Machine>(MACHINES, name)?.spec.infra.config['name'],
      );
      expect([crash, ...found]).toEqual([crash, 'general-1', 'general-2']);
    });
    expect(writes).toBe(2);
  });
});
