/** Describes what one reconcile of one cluster works with: its context and its target. */
import type { UnitIdentity } from '../../api/generated/types.ts';
import type { PausedParts } from '../../api/status/pauses.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { DecryptionKeys } from '../decrypt-objects.ts';
import type { DriftCorrection } from '../drift-history.ts';
import type { HealthExpressions } from '../health/expressions/health-expressions.ts';
import type { Acknowledgement, DeleteBudget } from '../judge/delete-budget.ts';
import type { RenderedUnit } from '../rendered.ts';
import type { AllowedAccess } from './identity/access-reviews.ts';
import type { UnitAccounts } from './identity/unit-identities.ts';
import type { ServerForm } from './input.ts';
import type { InventoryStore } from './inventory/store.ts';
import type { LiveCache } from './live/ports.ts';
import type { ReadApplied } from './ownership/earlier-content.ts';
import type { FieldPolicy } from './ownership/ignored-fields.ts';
import type { TimeoutBudget } from './timeout-budget.ts';

export interface SyncContext {
  readonly client: Client;
  readonly live: LiveCache;
  readonly store: InventoryStore;
  /** Called before anything is sent that changes the cluster. When it rejects, nothing is sent. */
  readonly beforeWrite?: () => Promise<void>;
  /** UID of the hub. */
  readonly hub: string;
  /** Prefix of the units of this inventory. */
  readonly scope: string;
  readonly applied: ReadApplied;
  readonly timeouts?: TimeoutBudget;
  /** The keys of encrypted objects. Without them such an object is not written. */
  readonly keys?: DecryptionKeys;
  /** The ServiceAccounts as which units are written. */
  readonly accounts?: UnitAccounts;
  /** Remembers the permissions of these accounts. It is kept from one reconcile to the next; losing it costs questions. */
  readonly allowedAccess?: AllowedAccess;
  readonly clock: Clock;
  readonly log: Log;
  /** Records an Event about the cluster for people. */
  readonly recordEvent?: (event: ClusterEvent) => void;
  readonly recordCorrection?: (correction: DriftCorrection) => void;
  /** The server forms by object key. They are kept from one reconcile to the next; losing them costs one apply for each entry. */
  readonly serverForms: Map<string, ServerForm>;
  /** The signal is checked between two requests: a request in flight completes. */
  readonly signal: AbortSignal;
}

export interface ClusterEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface SyncTarget extends PausedParts {
  /** A person rolled the cluster back: rules and limits stay as they are. */
  readonly isRollback?: true;
  /** The content was proven in this cluster before: units that exist do not wait for those that they depend on. */
  readonly provenBefore?: boolean;
  readonly commit: string;
  readonly digest: string;
  readonly units: readonly RenderedUnit[];
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
  readonly fieldPolicies?: readonly FieldPolicy[];
  readonly forceManagers?: readonly string[];
  readonly expressions?: HealthExpressions;
  readonly identities?: readonly UnitIdentity[];
}
