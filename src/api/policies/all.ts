/** The admission policies, each followed by its binding. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { clusterApiWrites } from '../clusterapi/hook-policy.ts';
import { agentBlocked } from './agent-blocked.ts';
import { agentOwnObjects } from './agent-own-objects.ts';
import { auditRecord } from './audit-record.ts';
import { bootstrapTokens } from './bootstrap-tokens.ts';
import { componentsWriter } from './components-writer.ts';
import { gitOnly } from './git-only.ts';
import { grantRequired } from './grant-required.ts';
import { ledgerRules } from './ledger-rules.ts';
import { ledgerWriter } from './ledger-writer.ts';
import { protectedDelete } from './protected-delete.ts';

export function policies(): readonly KubeObject[] {
  return [
    agentOwnObjects,
    agentBlocked,
    componentsWriter,
    gitOnly,
    protectedDelete,
    grantRequired,
    bootstrapTokens,
    auditRecord,
    clusterApiWrites,
    ledgerRules,
    // Last: `install` waits until this policy denies a request, which shows that those before it are in force too.
    ledgerWriter,
  ].flat();
}
