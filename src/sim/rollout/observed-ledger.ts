/** The real Defender of one process: its observer, and the ledger that decides by what it observes. */
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINE_SETS,
  MACHINES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type { CallWindow } from '../../defender/facts/call-window.ts';
import type { ObservedViews } from '../../defender/facts/observed-views.ts';
import { createFleetObserver, type FleetObserver } from '../../defender/facts/observer.ts';
import { createLedger, type Ledger } from '../../defender/ledger/ledger.ts';
import { createLedgerStore } from '../../defender/ledger/store.ts';
import type { View } from '../../kube/cache/view.ts';
import { NODES, PODS } from '../../kube/objects/core-kinds.ts';
import type { Resource } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import type { FaultyClient } from './faulty-client.ts';
import { quietLog } from './following-view.ts';

export interface ObservedLedgerParts {
  readonly client: FaultyClient;
  readonly clock: Clock;
  readonly views: Readonly<Record<string, View>>;
  readonly calls: CallWindow;
  /** Guards that are broken on purpose. */
  readonly without?: ReadonlySet<string>;
}

export interface ObservedLedger {
  readonly observer: FleetObserver;
  readonly ledger: Ledger;
}

export function createObservedLedger(parts: ObservedLedgerParts): ObservedLedger {
  const { client, clock, views, calls, without } = parts;
  const observer = createFleetObserver({ views: observedViews(views), clock, calls });
  const ledger = createLedger({
    store: createLedgerStore({ client }),
    clock,
    log: quietLog,
    policies: () => observer.policies(),
    facts: () => observer.facts(),
    liveGrants: () => observer.liveGrants(),
    leads: () => true,
    ...optional('without', without),
  });
  return { observer, ledger };
}

function observedViews(views: Readonly<Record<string, View>>): ObservedViews {
  // The view of each kind holds objects of its type.
  const view = ({ kind }: Resource): never => views[kind] as never;
  return {
    machines: view(MACHINES),
    nodes: view(NODES),
    pods: view(PODS),
    machineSets: view(MACHINE_SETS),
    policies: view(DEFENDER_POLICIES),
    jobs: view(REMEDY_OPERATION_JOBS),
    ledgers: view(DEFENDER_LEDGERS),
  };
}
