/** The phrases and names that we do not use, and what to write instead. */

export interface BannedPhrase {
  /** Source of a regular expression without regard to case, from word to word; a space is any white space. */
  readonly phrase: string;
  readonly instead: string;
  /** Sources of regular expressions: a phrase inside a match of one of these is fine. */
  readonly except?: readonly string[];
  /** Lower case only: the same word with a capital is a name. */
  readonly lowerCase?: true;
}

const NOT_FOUND = 'not found, missing or unknown';

export const BANNED_PHRASES: readonly BannedPhrase[] = [
  {
    phrase: '(is|are|was|were) no',
    instead: 'is not a …',
    except: [
      'there (is|are|was|were) no',
      'no (longer|more|less|earlier|later|sooner|older|newer|larger|smaller|greater)',
      '(answer|it) is no[.,;:)]',
    ],
  },
  { phrase: '(is|are|was|were) none', instead: 'is not one', except: ['there (is|are|was|were) none'] },
  { phrase: 'is no more', instead: 'has ended, does not exist', except: ['is no more than'] },
  { phrase: 'of ours', instead: 'our …' },
  { phrase: 'anew', instead: 'again; recreate' },
  { phrase: 'mend(s|ed|ing)?', instead: 'fix' },
  { phrase: '(goes|go|went) on (by itself|with)', instead: 'no action required; continues' },
  { phrase: 'nobody', instead: 'name the actor, or use the passive' },
  {
    phrase: '(whoever|whomever|who asks)',
    instead: 'name the actor: the client, the caller, the controller',
  },
  { phrase: 'what [^.;:]{1,60} is what', instead: 'say it in the order subject, verb, object' },
  {
    phrase: 'stands?',
    instead: 'is, is in',
    except: ['stands? (for|by|down|still|in for|alone|up to)', 'stand-(in|ins|alone)', 'stands-in'],
  },
  { phrase: 'stood', instead: 'was, was in', except: ['stood (for|down|still|in for)'] },
  { phrase: '(lies|lie|lay)', instead: 'is in', except: ['(lies|lie) about', 'lay out'] },
  { phrase: 'says', instead: 'reports, states, contains, is' },
  {
    phrase: '(is|are|was|were|been|be|as|it|they|what|nothing|all|just|when|once|said|server|program) said',
    instead: 'reported, stated',
  },
  {
    phrase: '(is|are|was|were|been|be|as|it|they|us|when) told',
    instead: 'notified, informed; distinguished',
    except: ['told apart'],
  },
  { phrase: 'tells? (of|it)', instead: 'reports' },
  { phrase: 'ways? (out|back)', instead: 'hint, fix; roll back' },
  {
    phrase: '(wakes?|woken?|waking)',
    instead: 'requeue, trigger',
    except: ['wakes? up', 'sleepers? (wake|woken)'],
  },
  { phrase: 'gone', instead: NOT_FOUND, except: ['410 gone', 'gone (wrong|through|by)'], lowerCase: true },
  {
    phrase: 'lost',
    instead: NOT_FOUND,
    lowerCase: true,
    except: [
      '(lease|leases|leadership|election|term|connection|connections|watch|watches|update|updates|write|writes|event|events|data|answer|answers|response|responses|request|requests|reply|packet|packets|bytes|line|lines|precision|race|quorum|memory|power|place|slot|response)[^.;]{0,40} lost',
      'lost[^.;]{0,30} (lease|leases|leadership|election|term|connection|watch|watches|update|updates|write|writes|event|events|data|answer|answers|response|request|requests|packet|packets|bytes|precision|race|quorum|power|memory|slot|place)',
      '(would|will|gets?|be|been|is|are|was|were) lost',
    ],
  },
  { phrase: 'no longer (seen|known)', instead: 'unknown' },
  { phrase: '(seen|unseen)', instead: 'observed' },
  { phrase: 'wanted', instead: 'desired, expected, required' },
  { phrase: 'blind(ly|ness)?', instead: 'without a current view; stale' },
  {
    phrase: 'worlds?',
    instead: 'snapshot, input, simulated cluster',
    except: ['hello,? world', 'real[- ]world', 'world-(readable|writable)'],
  },
  { phrase: 'crews?', instead: 'workers' },
  { phrase: 'desks?', instead: 'scheduler' },
  { phrase: 'roads?', instead: 'scheme, transport, pipeline order' },
  { phrase: '(books?|paper)', instead: 'record, status, object' },
  { phrase: 'walls?', instead: 'isolation, limit', except: ['wall[- ](clocks?|time)'] },
  { phrase: 'doors?', instead: 'endpoint, built-in, entry point' },
  { phrase: 'leash(es)?', instead: 'timer' },
  { phrase: 'strangers?', instead: 'unknown client, unknown commit, someone new to the code' },
  { phrase: 'impostors?', instead: 'identity mismatch' },
  { phrase: '(on trial|trials?)', instead: 'rollout, soak' },
  { phrase: '(fates?|wish|wishes)', instead: 'plan, action, desired state' },
  { phrase: '(let|lets) come', instead: 'wait for' },
  {
    phrase:
      '(a|an|one|each|every|the|this|that|next|first|second|last|previous|same|whole|per|another|any|no|two|from|to|of) pass',
    instead: 'reconcile',
    except: [
      '(never|not|code of|counts as) a pass',
      'to pass[^.;]',
      '(that|no|each|one|any|every|the|two) pass (the|a|an|through|by|for|on|it)',
    ],
  },
  {
    phrase: 'passes',
    instead: 'reconciles',
    except: [
      '(it|test|probe|time|check|which|that|what|and|or|all|one|everything|nothing|value|version|second|minute|hour|moment|never|gate|window|grace|deadline|soak|object|commit|stage|cluster) passes',
      'passes (the|a|an|them|through|by|for|on|it|its|over|no|all|every|with|without|when|what|each|only|and)',
    ],
  },
  {
    phrase: '(a|one|each|every|next|first|last|another|the|good) look',
    instead: 'observation, reconcile',
    except: ['look like'],
  },
  {
    phrase: '(our|its|the|owner|ownership|their|these|those|whose|with|without|no|same|own) marks',
    instead: 'owner labels',
  },
  { phrase: '(at|in) sight', instead: 'visible, current' },
];

/** Fields, reasons and error codes of the API with a name that is banned elsewhere. */
export const API_FIELDS: readonly string[] = ['given', 'gone', 'Gone', 'ScaledAsWanted', 'seenAt', 'wanted'];

/** Whole names that are not declared: of variables, functions, types, fields and parameters. */
export const BANNED_NAMES: Readonly<Record<string, string>> = {
  given: 'optional, or the name of what is passed',
  goes: 'a predicate or a verb phrase',
  said: 'message, answer, or a verb phrase',
  says: 'message, expected, or a verb phrase',
  told: 'a predicate or a verb phrase',
  look: 'observe, reconcile',
  pass: 'reconcile',
};

/** Words that no declared name and no file name contains, one of the parts of fooBarBaz or foo-bar-baz. */
export const BANNED_WORDS: Readonly<Record<string, string>> = {
  anew: 'again, recreate',
  bitten: 'endedBecause',
  blind: 'staleReason, unknown',
  blindness: 'staleReason',
  book: 'record, status',
  books: 'records',
  crew: 'workers',
  desk: 'scheduler',
  door: 'endpoint, entry point',
  doors: 'endpoints, built-ins',
  fate: 'plan, action',
  gone: 'missing, deleted, notFound',
  impostor: 'identityMismatch',
  leash: 'cancelTimer',
  mend: 'fix',
  nobody: 'name the actor',
  paper: 'object',
  road: 'scheme, release order',
  roads: 'release order',
  seen: 'observed',
  sight: 'freshness',
  sighting: 'observedLease',
  stranger: 'unknown…',
  strangers: 'unknown…',
  trial: 'rolloutState',
  wake: 'requeue, trigger',
  walls: 'isolation',
  wanted: 'desired, expected',
  whoever: 'name the actor',
  wish: 'desired',
  wishes: 'desired',
  world: 'snapshot, input',
};
