/** Describes the input of the plan for one cluster: a snapshot of git, of the inventory and of the cluster. */
import type { PausedParts } from '../../api/status/pauses.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { ObjectId } from '../../kube/objects/object-id.ts';
import type { DecryptedObjects } from '../decrypt-objects.ts';
import type { Acknowledgement, DeleteBudget } from '../judge/delete-budget.ts';
import type { RenderedUnit } from '../rendered.ts';
import type { Inventory } from './inventory/inventory.ts';
import type { FieldPolicy } from './ownership/ignored-fields.ts';

/** Nothing in a paused unit, and nothing of a paused object, is written or deleted. */
export interface ApplyInput extends PausedParts {
  /** UID of the hub. Objects that carry it are ours. */
  readonly hub: string;
  readonly commit: string;
  readonly units: readonly RenderedUnit[];
  /** The values of encrypted objects. A plan that is only shown has none. */
  readonly decrypted?: DecryptedObjects;
  readonly inventory: Inventory;
  /** Returns the live object. Only objects with owner labels are observed; `unknown` while an object's kind cannot be read. */
  readonly live: (id: ObjectId) => KubeObject | 'absent' | 'unknown';
  readonly unknownReason: (id: ObjectId) => string;
  readonly serverForms: ReadonlyMap<string, ServerForm>;
  readonly budget: DeleteBudget;
  readonly acknowledgements: readonly Acknowledgement[];
  readonly fieldPolicies?: readonly FieldPolicy[];
  /** Field managers whose fields git takes over when they conflict. */
  readonly forceManagers?: readonly string[];
}

/** The form in which the server stores an object that it normalizes: `1` for `1000m` in git. */
export interface ServerForm {
  /** The digest of the rendered object that was applied. */
  readonly digest: string;
  readonly projection: string;
}
