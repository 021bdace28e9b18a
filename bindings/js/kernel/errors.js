/** Errors that several parts throw; every other error is declared where it is thrown. */

/** Bytes or a document that cannot be read; `reason` is a name from `vectors/v1/README.md`. */
export class DecodeError extends Error {
  constructor(reason, message) {
    super(message);
    this.name = "DecodeError";
    this.reason = reason;
  }
}

/** Throws a `DecodeError`. */
export const refuse = (reason, message) => {
  throw new DecodeError(reason, message);
};

/**
 * What went wrong between this device and a curator; `code` is stable. With `group`, `groups` lists the survey's. It is declared here because
 * a page without SHA-256 (`insecure`) is found out where policies are verified.
 */
export class ClientError extends Error {
  constructor(code, message, problem = null) {
    super(message);
    this.name = "ClientError";
    this.code = code;
    this.problem = problem;
  }
}
