/** The version of this package and of the service that it fits. */
export const version = "0.18.0";
