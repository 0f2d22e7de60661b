/** Why a repair job waits: one reason at a time. */

/** Each has its hint in src/views/repair/unblock.ts. */
export type RepairWaitReason =
  | 'Agent'
  | 'ApprovalRequired'
  | 'Boot'
  | 'Condition'
  | 'ConditionHolding'
  | 'Draining'
  | 'Evicting'
  | 'FactsUnknown'
  | 'FaultClearing'
  | 'FaultPresent'
  | 'GrantDenied'
  | 'LeadTime'
  | 'MachineBusy'
  | 'NeedsPerson'
  | 'OutsideWindow'
  | 'PodBlocked'
  | 'PodDisruptionBudget'
  | 'Power'
  | 'Releasing'
  | 'Replacing'
  | 'Stopping'
  | 'VerificationHolding';
