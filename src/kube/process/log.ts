/** The fields of a log line besides its constant message. Errors go into the field `error`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log. Messages are constant strings; variable parts are in the fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds these fields to every line. */
  with(fields: LogFields): Log;
}
