/** The reflector against a simulated server with random changes and faults. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeErrorCode } from '../../../src/kube/client/errors.ts';
import { contents, createReflectorBed, MINUTE, SECOND } from '../../support/kube/reflector-bed.ts';
import type { ListFault, SmallServer, WatchFault } from '../../support/kube/small-server.ts';
import { runs } from '../../support/sweep-size.ts';
import { settle, type VirtualClock } from '../../support/virtual-clock.ts';

describe('createReflector', () => {
  it('never loses an object that exists, and always converges', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 60 }), convergesAfter),
      runs(150, 5000),
    );
  });
});

type Step =
  | { readonly step: 'put'; readonly name: string }
  | { readonly step: 'delete'; readonly name: string }
  | { readonly step: 'compact' }
  | { readonly step: 'list fault'; readonly fault: ListFault }
  | { readonly step: 'list again'; readonly fault: ListFault }
  | { readonly step: 'watch fault'; readonly fault: WatchFault }
  | { readonly step: 'time'; readonly ms: number };

const anyCode = fc.constantFrom<KubeErrorCode>(
  'Unreachable',
  'Gone',
  'ServerError',
  'TooManyRequests',
  'BadAnswer',
  'Timeout',
);
const anyName = fc.constantFrom('a', 'b', 'c', 'd');
const few = fc.nat(3);
const anyListFault: fc.Arbitrary<ListFault> = fc.oneof(
  fc.record({ fault: fc.constant('error' as const), code: anyCode, afterPages: few }),
  fc.record({ fault: fc.constant('old' as const), revisions: fc.nat(8) }),
  fc.record({ fault: fc.constant('empty' as const) }),
);
const anyWatchFault: fc.Arbitrary<WatchFault> = fc.oneof(
  fc.record({ fault: fc.constant('error' as const), code: anyCode, afterEvents: few }),
  fc.record({ fault: fc.constant('close' as const), afterEvents: few }),
  fc.record({ fault: fc.constant('freeze' as const), afterEvents: few }),
  fc.record({ fault: fc.constant('replay' as const), events: fc.nat(6) }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ step: fc.constantFrom('put' as const, 'delete' as const), name: anyName }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ step: 'compact' }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('list fault' as const), fault: anyListFault }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('list again' as const), fault: anyListFault }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('watch fault' as const), fault: anyWatchFault }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant('time' as const),
      ms: fc.constantFrom(10, SECOND, MINUTE, 11 * MINUTE),
    }),
  },
);

async function convergesAfter(steps: readonly Step[]): Promise<void> {
  const { clock, server, store: objects, stop } = await createReflectorBed(['a', 'b']);
  const lost: string[] = [];
  objects.subscribe({
    removed: ({ metadata }) => {
      if (server.has(metadata.uid)) lost.push(metadata.name);
    },
  });
  for (const step of steps) await perform(step, server, clock);
  server.listFaults.length = 0;
  server.watchFaults.length = 0;
  await clock.advance(25 * MINUTE);
  await stop();
  expect(lost).toEqual([]);
  expect(contents(objects.list())).toEqual(contents(server.objects()));
}

async function perform(step: Step, server: SmallServer, clock: VirtualClock): Promise<void> {
  switch (step.step) {
    case 'put':
      server.put(step.name);
      break;
    case 'delete':
      server.delete(step.name);
      break;
    case 'compact':
      server.compact();
      break;
    case 'list fault':
      addListFault(server, step.fault);
      break;
    case 'list again':
      server.watchFaults.push({ fault: 'error', code: 'Gone' });
      addListFault(server, step.fault);
      break;
    case 'watch fault':
      server.watchFaults.push(step.fault);
      break;
    case 'time':
      await clock.advance(step.ms);
      break;
  }
  await settle();
}

/** Never two empty lists in a row: those would be accepted. */
function addListFault({ listFaults }: SmallServer, fault: ListFault): void {
  const again = fault.fault === 'empty' && listFaults.at(-1)?.fault === 'empty';
  if (!again) listFaults.push(fault);
}
