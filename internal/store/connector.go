package store

import (
	"context"
	"database/sql/driver"

	"modernc.org/sqlite"
)

// connector opens connections of one data source.
type connector struct {
	driver sqlite.Driver
	dsn    string
}

// Connect implements [driver.Connector].
func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return &c.driver }
