/** Describes the reasons that concern every act: people stopped it, or the Defender cannot decide or doubts its own view. */
import type { DenialGroup } from './denial.ts';

const ASKED_AGAIN = 'no action required: it is asked for again with fresh facts';
const RESTORE_VIEW = 'check the API server, and the network between it and kubenode controllers';

export const GENERAL_DENIALS = [
  {
    title: 'Stopped by people',
    reasons: {
      KillSwitch: {
        meaning: 'A kill switch is engaged: nothing new is granted or renewed.',
        hint: 'kubenode defender resume, or remove spec.killSwitch from the policy in git',
      },
      ClusterPaused: {
        meaning: 'The Machine or its set is paused.',
        hint: 'remove spec.paused in git',
      },
      HumanHold: {
        meaning:
          'A person holds the machine, until the shown time; or the system that owns its instance does, for the reason that is named.',
        hint: 'kubenode machine release MACHINE, or ask the person that is named, or end in Cluster API what is named',
      },
      NodeExcluded: {
        meaning: 'The machine has the label `kubenode.dev/exclude`: no risk above None is done to it.',
        hint: 'remove the label kubenode.dev/exclude from the Machine and its Node',
      },
    },
  },
  {
    title: 'The Defender cannot decide',
    reasons: {
      PolicyMissing: {
        meaning: 'The DefenderPolicy `fleet-default` does not exist.',
        hint: 'commit the DefenderPolicy fleet-default, and check that it is applied: kubenode status',
      },
      PolicyInvalid: {
        meaning:
          'A policy in mode Enforce is contradictory, empty, or uses what this version does not act on. It denies every ask.',
        hint: 'fix the field that is named in git: kubenode validate',
      },
      FactUnknown: {
        meaning:
          'Something that the decision needs was not observed: the machine itself, its Node, its repairs, or the right time.',
        hint: 'check what is named: kubectl get machine,node MACHINE, and the time service',
      },
      LedgerUnavailable: {
        meaning: 'The ledger could not be read or written, or another process leads.',
        hint: 'check the API server, and that kubenode controllers runs for this cluster',
      },
      LedgerConflict: {
        meaning: 'Other writers changed the ledger five times in a row.',
        hint: 'no action required unless it lasts: then stop the second process that writes the ledger',
      },
      LedgerFull: {
        meaning: 'A map of the ledger, or the object as a whole (384 KiB), is full: the message names it.',
        hint: 'settle acts that ended: kubenode defender status, kubenode defender settle',
      },
      LedgerRecovering: {
        meaning:
          'The ledger was lost, edited or restored from a backup. Everything is denied until it is rebuilt and 300 s are over.',
        hint: 'no action required: the ledger is rebuilt within minutes',
      },
      AskInvalid: {
        meaning:
          'The ask is not well formed, or names a grant that does not exist, has ended, or belongs to another holder.',
        hint: ASKED_AGAIN,
      },
      AskStale: {
        meaning: 'The facts behind the ask are older than 60 s, or in the future.',
        hint: `${ASKED_AGAIN}; compare the clocks if it lasts`,
      },
      RevisionUnknown: {
        meaning: 'The job or component set does not name the revision that it acts for.',
        hint: 'let sync apply the rule or the set from a commit: kubenode status',
      },
      NodeIdentityChanged: {
        meaning: 'The Node was deleted and created again since the asker observed it.',
        hint: ASKED_AGAIN,
      },
    },
  },
  {
    title: 'The Defender doubts its own view',
    reasons: {
      WatchStale: {
        meaning: 'A watch had no contact with the API server for too long, or is not complete yet.',
        hint: RESTORE_VIEW,
      },
      APIErrors: {
        meaning: 'Too many requests to the API server failed within a minute.',
        hint: RESTORE_VIEW,
      },
      MassUnknown: {
        meaning:
          'Many machines became Unknown at once: a fault of the network or the control plane is more likely than of the nodes.',
        hint: 'check the network and the API server from a node; do not replace machines now',
      },
      SecondVantageMissing: {
        meaning: 'No second vantage point of the policy can tell whether the silent machine is the cause.',
        hint: 'check the provider of the machine, that machines near it report, and that their agents answer in status.peers; or repair it by hand',
      },
      SecondVantageDisagrees: {
        meaning:
          'The machines near the silent machine are silent, too, or the agent of a peer reaches its kubelet: the network is a likelier cause than the machine.',
        hint: 'check the switch of the rack and the network between the machine and the API server',
      },
    },
  },
] as const satisfies readonly DenialGroup[];
