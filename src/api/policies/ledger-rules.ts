import type { KubeObject } from '../../kube/objects/object.ts';
import { POLICY_LEDGER_RULES } from '../names.ts';
import { matchKubenode, policy } from './policy.ts';

const CREATES = 'oldObject == null';
const SEQ = 'object.spec.seq == oldObject.spec.seq + 1';
const RECOVERS = 'object.spec.recovering && object.spec.seq > oldObject.spec.seq';
const NEXT_SEQ = `object.spec.epoch >= oldObject.spec.epoch && (${SEQ} || (${RECOVERS}))`;
const KEEPS_STARTED =
  "variables.olds.all(m, variables.olds[m].state != 'Started' || (m in variables.news && " +
  "variables.news[m].id == variables.olds[m].id && variables.news[m].state != 'Granted'))";
const KEEPS_IDENTITY =
  'variables.news.all(m, !(m in variables.olds) || variables.news[m].id != variables.olds[m].id || ' +
  '(variables.news[m].fence == variables.olds[m].fence && variables.news[m].issuedAt == variables.olds[m].issuedAt && ' +
  "(variables.olds[m].state != 'Settled' || variables.news[m].state == 'Settled')))";
const FENCES_NEW =
  'variables.news.all(m, (m in variables.olds && variables.news[m].id == variables.olds[m].id) || ' +
  'variables.news[m].fence == object.spec.seq || (object.spec.recovering && variables.news[m].fence < object.spec.seq))';
const WELL_FORMED =
  'variables.news.all(m, timestamp(variables.news[m].issuedAt) < timestamp(variables.news[m].notAfter) && ' +
  "(variables.news[m].state == 'Settled') == has(variables.news[m].settledAt))";

/**
 * Defines the rules that each write of the ledger keeps. They are in a policy and not in its schema, because there the API server converts
 * every field by its schema, and evaluates the rules for each write of the status, too: with 200 grants most of the time of a write.
 */
export const ledgerRules: readonly KubeObject[] = policy({
  name: POLICY_LEDGER_RULES,
  description: 'Each write of the DefenderLedger keeps what grants rely on.',
  match: [matchKubenode(['defenderledgers'], ['CREATE', 'UPDATE'])],
  variables: { olds: `${CREATES} ? {} : oldObject.spec.grants`, news: 'object.spec.grants' },
  validations: [
    {
      // Writes of metadata leave the spec as it is. A ledger that was restored from a backup continues above every fence in use.
      expression: `${CREATES} || (${NEXT_SEQ}) || object.spec == oldObject.spec`,
      message:
        'spec.seq must increase by one with each write, or more while recovering, and epoch must not decrease: read the ledger again',
    },
    { expression: KEEPS_STARTED, message: 'a started grant must be settled before it is removed' },
    {
      expression: KEEPS_IDENTITY,
      message: 'fence and issuedAt of a grant cannot change, and a settled grant stays settled',
    },
    {
      expression: `${CREATES} || ${FENCES_NEW}`,
      message: 'the fence of a new grant must be the seq of this write, or lower while recovering',
    },
    {
      expression: WELL_FORMED,
      message:
        'notAfter of a grant must be later than issuedAt, and settledAt must be set exactly when state is Settled',
    },
  ],
});
